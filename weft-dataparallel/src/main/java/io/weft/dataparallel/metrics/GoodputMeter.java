// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.metrics;

import java.util.concurrent.atomic.AtomicLongArray;

/// Adds up where the time of one rank goes. One thread adds, any thread reads.
public final class GoodputMeter {

  private final AtomicLongArray nanos;
  private final int ranks;
  private boolean started;

  /// Of a rank in a job of so many, by the numbers with which it began.
  public GoodputMeter(int ranks) {
    this.ranks = ranks;
    this.nanos = new AtomicLongArray(TimeUse.COUNT + ranks + 1);
  }

  /// The first step begins, so long after its process. Of several calls the first counts: a first
  /// step may be taken again after a failure.
  public void start(long sinceProcessNanos) {
    if (!started) {
      started = true;
      add(TimeUse.START_UP, sinceProcessNanos);
    }
  }

  /// Adds time. What is below 0, as clocks have it at times, is nothing.
  public void add(TimeUse use, long more) {
    nanos.addAndGet(use.place(), Math.max(0, more));
  }

  /// Of the time of communication, so much was waiting for this rank.
  public void addWaiting(int rank, long more) {
    nanos.addAndGet(TimeUse.COUNT + rank, Math.max(0, more));
  }

  /// A step is over. Its parts are cut so that together they are all of it: what was communicating
  /// while input was prepared counts as input.
  ///
  /// @param total time of it
  /// @param exposed of it, communicating or waiting while nothing was computed
  /// @param input of it, preparing its input
  public void step(long total, long exposed, long input) {
    long prepared = Math.clamp(input, 0, Math.max(0, total));
    long communicated = Math.clamp(exposed, 0, Math.max(0, total - prepared));
    add(TimeUse.INPUT, prepared);
    add(TimeUse.COMMUNICATION, communicated);
    add(TimeUse.COMPUTE, total - prepared - communicated);
    nanos.incrementAndGet(TimeUse.COUNT + ranks);
  }

  /// Ranks of the job when it began.
  public int ranks() {
    return ranks;
  }

  /// Steps so far.
  public long steps() {
    return nanos.get(TimeUse.COUNT + ranks);
  }

  /// So far.
  public long nanos(TimeUse use) {
    return nanos.get(use.place());
  }

  /// So far, for this rank.
  public long waitingNanos(int rank) {
    return nanos.get(TimeUse.COUNT + rank);
  }

  /// By `TimeUse`, then waiting by rank: to be added over the ranks for `Goodput.ofSums`.
  public double[] nanos() {
    double[] all = new double[TimeUse.COUNT + ranks];
    for (int i = 0; i < all.length; i++) {
      all[i] = nanos.get(i);
    }
    return all;
  }
}
