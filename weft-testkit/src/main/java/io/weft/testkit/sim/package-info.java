// SPDX-License-Identifier: Apache-2.0
/// Jobs in virtual time, deterministic by seed: the production code of up to 2,048 ranks in one
/// JVM, blocking calls included, over a simulated network with faults (docs/simulation.md). The
/// entry point is `Simulation`.
@NullMarked
package io.weft.testkit.sim;

import org.jspecify.annotations.NullMarked;
