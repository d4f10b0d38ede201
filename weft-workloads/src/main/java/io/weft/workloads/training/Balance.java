// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.agent.Ticker;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/// A meter of the time that this rank itself needs for a step, and the rule for the shares that
/// follow from the times of all ranks [VIS16 §3.3.1]. A time lasts from the end of the step before
/// to the end of this one, without exposed communication. The median of some steps counts, so a
/// rank that stands still for one of them keeps its share. Confined to one thread.
final class Balance {

  /// The number of steps between two divisions.
  static final int EVERY = 20;

  /// The least gain of a division, as a fraction of the duration of a step.
  private static final double LEAST_GAIN = 0.05;

  private final Ticker ticker;
  private final List<Long> nanos = new ArrayList<>();
  private long lastEnd = -1;

  Balance(Ticker ticker) {
    this.ticker = ticker;
  }

  /// Begins an epoch: the time since the last step was not of a step.
  void beginEpoch() {
    lastEnd = -1;
  }

  /// Adds the step that has ended now. Returns whether a division is due.
  boolean add(StepMeter.MeteredStep step) {
    long now = ticker.nanos();
    long begun = lastEnd < 0 ? step.begunNanos() : lastEnd;
    nanos.add(Math.max(1, now - begun - step.exposed()));
    lastEnd = now;
    return nanos.size() == EVERY;
  }

  /// Returns the median since the last call.
  double take() {
    long[] sorted = nanos.stream().mapToLong(Long::longValue).sorted().toArray();
    nanos.clear();
    lastEnd = -1;
    return sorted[sorted.length / 2];
  }

  /// Returns the next shares, which are half of the way from the present ones to those with which
  /// all ranks would need equal times; empty if a step would not be noticeably shorter. Equal
  /// arguments give equal shares.
  ///
  /// @param widths of the present shares
  /// @param nanos of a step, by rank
  static Optional<List<Integer>> next(List<Integer> widths, double[] nanos) {
    int ranks = nanos.length;
    int batch = widths.stream().mapToInt(Integer::intValue).sum();
    double[] speeds = new double[ranks];
    Arrays.setAll(speeds, rank -> widths.get(rank) / nanos[rank]);
    double all = Arrays.stream(speeds).sum();
    double[] wanted = new double[ranks];
    Arrays.setAll(wanted, rank -> (widths.get(rank) + batch * speeds[rank] / all) / 2);
    List<Integer> next = rounded(wanted, batch);
    return slowest(next, speeds) < (1 - LEAST_GAIN) * slowest(widths, speeds)
        ? Optional.of(next)
        : Optional.empty();
  }

  private static double slowest(List<Integer> widths, double[] speeds) {
    double slowest = 0;
    for (int rank = 0; rank < speeds.length; rank++) {
      slowest = Math.max(slowest, widths.get(rank) / speeds[rank]);
    }
    return slowest;
  }

  /// Returns whole numbers of at least 1 near these, whose sum is the batch.
  private static List<Integer> rounded(double[] wanted, int batch) {
    int[] widths = new int[wanted.length];
    Arrays.setAll(widths, rank -> Math.max(1, (int) wanted[rank]));
    int left = batch - Arrays.stream(widths).sum();
    while (left != 0) {
      int best = -1;
      for (int rank = 0; rank < widths.length; rank++) {
        boolean may = left > 0 || widths[rank] > 1;
        double missing = (wanted[rank] - widths[rank]) * Integer.signum(left);
        if (may && (best < 0 || missing > (wanted[best] - widths[best]) * Integer.signum(left))) {
          best = rank;
        }
      }
      widths[best] += Integer.signum(left);
      left -= Integer.signum(left);
    }
    return Arrays.stream(widths).boxed().collect(Collectors.toList());
  }
}
