// SPDX-License-Identifier: Apache-2.0
/// Parameter servers in simulation: the production protocol between very many workers and servers,
/// and what it must keep to.
@NullMarked
package io.weft.qa.keyvalue;

import org.jspecify.annotations.NullMarked;
