// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// The measurement of the time that a cache line takes from one processor to another and back. All
/// transfers between ranks of a host depend on it. It depends on a cache that is common to both
/// processors, which the host of a virtual machine may change every few seconds.
public final class Handover {

  private static final long NANOS = 20_000_000;
  private static final int BATCH = 100;

  /// A longer time is that of a scheduler's turn instead of a cache line.
  private static final int MOST_NANOS = 20_000;

  /// The number of polls after which a second processor counts as unavailable.
  private static final int MAX_LOOKS = 50_000_000;

  private static final int OVER = -1;

  private Handover() {}

  /// Returns the mean time of the fastest hundred round trips in 20 ms, in nanoseconds, at most
  /// 20,000. Returns null if two threads do not get two processors.
  public static @Nullable Integer nanos() throws InterruptedException {
    if (Runtime.getRuntime().availableProcessors() < 2) {
      return null;
    }
    AtomicInteger line = new AtomicInteger();
    Thread other = Thread.ofPlatform().daemon().name("weft-handover").start(() -> answer(line));
    try {
      return fastest(line);
    } finally {
      line.set(OVER);
      other.join();
    }
  }

  private static @Nullable Integer fastest(AtomicInteger line) {
    long best = Long.MAX_VALUE;
    int number = 0;
    long first = System.nanoTime();
    for (long begin = first; begin - first < NANOS; begin = System.nanoTime()) {
      for (int i = 0; i < BATCH; i++) {
        line.set(++number);
        if (!comes(line, ++number)) {
          return null;
        }
      }
      best = Math.min(best, System.nanoTime() - begin);
    }
    long nanos = best / BATCH;
    return nanos > MOST_NANOS ? null : (int) nanos;
  }

  private static boolean comes(AtomicInteger line, int number) {
    for (int looks = 0; looks < MAX_LOOKS; looks++) {
      if (line.get() == number) {
        return true;
      }
    }
    return false;
  }

  private static void answer(AtomicInteger line) {
    for (int number = 1; ; number += 2) {
      int seen = line.get();
      while (seen != number) {
        if (seen == OVER) {
          return;
        }
        seen = line.get();
      }
      line.compareAndSet(number, number + 1); // A plain set might overwrite OVER.
    }
  }
}
