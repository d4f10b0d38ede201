// SPDX-License-Identifier: Apache-2.0
/// Parameter servers in simulation: the production protocol between many workers and servers, and
/// checks of its guarantees.
@NullMarked
package io.weft.qa.keyvalue;

import org.jspecify.annotations.NullMarked;
