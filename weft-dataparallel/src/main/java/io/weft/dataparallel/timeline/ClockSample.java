// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

/// What a rank's clock said in comparison with that of rank 0.
///
/// @param nanos when, by the rank's own clock
/// @param offsetNanos by how much the rank's clock was ahead of rank 0's
/// @param uncertaintyNanos by how much `offsetNanos` may be wrong, either way
public record ClockSample(long nanos, long offsetNanos, long uncertaintyNanos) {}
