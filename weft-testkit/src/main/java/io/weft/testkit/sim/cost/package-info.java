// SPDX-License-Identifier: Apache-2.0
/// The cost of an allreduce: by formula, and in the virtual time of a simulation.
@NullMarked
package io.weft.testkit.sim.cost;

import org.jspecify.annotations.NullMarked;
