// SPDX-License-Identifier: Apache-2.0
/// Simulations from the command line (tools/simulate).
@NullMarked
package io.weft.testkit.sim.tool;

import org.jspecify.annotations.NullMarked;
