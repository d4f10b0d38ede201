// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

/// A comparison of a rank's clock with rank 0's.
///
/// @param nanos time of the comparison by the rank's own clock
/// @param offsetNanos time by which the rank's clock was ahead of rank 0's
/// @param uncertaintyNanos maximum error of `offsetNanos`, in either direction
public record ClockSample(long nanos, long offsetNanos, long uncertaintyNanos) {}
