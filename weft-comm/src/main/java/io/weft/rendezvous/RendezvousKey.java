// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.util.Objects;

/// The key of one tensor: an edge in one iteration of one step. It is published once and received
/// once.
///
/// @param edge the edge of the tensor
/// @param step a number that all ranks share; each step has a unique number. Its lower 40 bits
///   count within a series, in which later steps have higher numbers; the upper bits are the
///   series. A component that starts steps without coordination with others has a separate series.
/// @param frame the frame of a loop, 0 outside loops
/// @param iteration the iteration of that loop, 0 outside loops
public record RendezvousKey(Edge edge, long step, long frame, long iteration) {

  /// Throws `IllegalArgumentException` for a negative step.
  public RendezvousKey {
    Objects.requireNonNull(edge, "edge");
    if (step < 0) {
      throw new IllegalArgumentException("step " + step + " of edge " + edge + " is negative");
    }
  }

  private static final int SERIES_SHIFT = 40;

  /// Returns the step with this number in a series. Throws `IllegalArgumentException` for a
  /// negative argument, a series beyond 2^23-1 or a number beyond 2^40-1.
  public static long step(long series, long number) {
    if (series < 0 || series >= 1L << 23 || number < 0 || number >= 1L << SERIES_SHIFT) {
      throw new IllegalArgumentException(
          "step "
              + number
              + " of series "
              + series
              + "; a series has 2^40 steps, a job 2^23 series");
    }
    return series << SERIES_SHIFT | number;
  }

  /// Returns the series of a step.
  public static long series(long step) {
    return step >>> SERIES_SHIFT;
  }

  /// Returns the number of a step within its series.
  public static long numberInSeries(long step) {
    return step & (1L << SERIES_SHIFT) - 1;
  }

  /// Returns the key of a tensor outside loops.
  public static RendezvousKey of(Edge edge, long step) {
    Objects.requireNonNull(edge, "edge");
    return new RendezvousKey(edge, step, 0, 0);
  }

  /// `source;incarnation;destination;name;frame:iteration of step n`.
  @Override
  public String toString() {
    return edge + ";" + frame + ":" + iteration + " of step " + step;
  }
}
