// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import java.util.concurrent.atomic.AtomicLongArray;

/// The meter of one rank's use of time. One thread adds, any thread reads.
public final class GoodputMeter {

  private final AtomicLongArray nanos;
  private final int ranks;
  private boolean started;

  /// Creates the meter of a rank.
  ///
  /// @param ranks the number of ranks with which the job began
  public GoodputMeter(int ranks) {
    this.ranks = ranks;
    this.nanos = new AtomicLongArray(TimeUse.COUNT + ranks + 1);
  }

  /// Records that the first step begins, this long after the start of its process. Only the first
  /// call counts, because a first step may be repeated after a failure.
  public void start(long sinceProcessNanos) {
    if (!started) {
      started = true;
      add(TimeUse.START_UP, sinceProcessNanos);
    }
  }

  /// Adds time. A negative time, which clocks can produce, counts as 0.
  public void add(TimeUse use, long more) {
    nanos.addAndGet(use.place(), Math.max(0, more));
  }

  /// Adds the part of the communication time that was spent waiting for this rank.
  public void addWaiting(int rank, long more) {
    nanos.addAndGet(TimeUse.COUNT + rank, Math.max(0, more));
  }

  /// Adds a completed step. Its parts are clamped so that they add up to the total: communication
  /// during the preparation of input counts as input.
  ///
  /// @param total the step's time
  /// @param exposed the step's time communicating or waiting without computation
  /// @param input the step's time preparing its input
  public void step(long total, long exposed, long input) {
    long prepared = Math.clamp(input, 0, Math.max(0, total));
    long communicated = Math.clamp(exposed, 0, Math.max(0, total - prepared));
    add(TimeUse.INPUT, prepared);
    add(TimeUse.COMMUNICATION, communicated);
    add(TimeUse.COMPUTE, total - prepared - communicated);
    nanos.incrementAndGet(TimeUse.COUNT + ranks);
  }

  /// Returns the number of ranks with which the job began.
  public int ranks() {
    return ranks;
  }

  /// Returns the number of steps.
  public long steps() {
    return nanos.get(TimeUse.COUNT + ranks);
  }

  /// Returns the time of this use.
  public long nanos(TimeUse use) {
    return nanos.get(use.place());
  }

  /// Returns the time spent waiting for this rank.
  public long waitingNanos(int rank) {
    return nanos.get(TimeUse.COUNT + rank);
  }

  /// Returns the times by `TimeUse`, then waiting by rank. Their sums over the ranks are the
  /// argument of `Goodput.ofSums`.
  public double[] nanos() {
    double[] all = new double[TimeUse.COUNT + ranks];
    for (int i = 0; i < all.length; i++) {
      all[i] = nanos.get(i);
    }
    return all;
  }
}
