// SPDX-License-Identifier: Apache-2.0
/// Faults on the way of a real transport's bytes, which production code knows nothing of: a relay
/// between the two ends of each connection cuts, half-closes, stalls, delays or corrupts as a plan
/// says, the same for the same seed. `docs/testing.md` tells how to use it.
@NullMarked
package io.weft.testkit.fault;

import org.jspecify.annotations.NullMarked;
