// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.util.Objects;

/// One tensor: an edge in one iteration of one step. Published once and received once.
///
/// @param edge what it travels along
/// @param step number that all ranks share; each step has its own. Its lower 40 bits count within a
///   series, where later steps have higher numbers; the bits above are the series. Who starts steps
///   without asking the others has a series of his own
/// @param frame of a loop, 0 outside
/// @param iteration of that loop, 0 outside
public record RendezvousKey(Edge edge, long step, long frame, long iteration) {

  /// Throws `IllegalArgumentException` for a negative step.
  public RendezvousKey {
    Objects.requireNonNull(edge, "edge");
    if (step < 0) {
      throw new IllegalArgumentException("step " + step + " of edge " + edge + " is negative");
    }
  }

  private static final int SERIES_SHIFT = 40;

  /// The step of this number in a series. Throws `IllegalArgumentException` for a series beyond
  /// 2^23-1 or a number beyond 2^40-1, and for what is negative.
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

  /// To which series a step belongs.
  public static long series(long step) {
    return step >>> SERIES_SHIFT;
  }

  /// The number of a step within its series.
  public static long numberInSeries(long step) {
    return step & (1L << SERIES_SHIFT) - 1;
  }

  /// Outside of loops.
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
