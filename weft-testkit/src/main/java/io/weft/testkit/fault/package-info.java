// SPDX-License-Identifier: Apache-2.0
/// Faults on the bytes of a real transport, which production code does not know. A relay between
/// the two ends of each connection cuts, half-closes, stalls, delays or corrupts it according to a
/// plan; equal seeds give equal faults. `docs/testing.md` describes its use.
@NullMarked
package io.weft.testkit.fault;

import org.jspecify.annotations.NullMarked;
