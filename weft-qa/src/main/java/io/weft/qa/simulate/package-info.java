// SPDX-License-Identifier: Apache-2.0
/// The simulations on the command line (tools/simulate).
@NullMarked
package io.weft.qa.simulate;

import org.jspecify.annotations.NullMarked;
