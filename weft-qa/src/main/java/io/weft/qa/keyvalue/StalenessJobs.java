// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import io.weft.kv.spec.Consistency;
import io.weft.qa.keyvalue.SimPushes.Pace;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.network.SimLink;
import java.time.Duration;
import java.util.SplittableRandom;

/// Jobs of 16 workers and 8 servers with random delays of messages and different computing times of
/// the workers. The tables are synchronous or have a staleness of 1 to 4.
public final class StalenessJobs {

  private static final int SERVERS = 8;
  private static final int WORKERS = 16;
  private static final int PAIRS = 64;
  private static final int CLOCKS = 8;
  private static final int MOST_STALENESS = 4;

  /// Exceeds the time of a message and its reply, so that workers diverge.
  private static final int JITTER_NANOS = 2_000_000;

  private static final Duration PAUSE = Duration.ofMillis(9);

  private StalenessJobs() {}

  /// Simulates the job of a seed. Throws `AssertionError` if a sum is not exact or a pull exceeds
  /// the staleness.
  public static PushTime.Measured play(long seed) throws InterruptedException {
    SimPushes what = of(seed);
    return PushTime.of(
        Simulation.of(what.ranks())
            .hosts(what.ranks())
            .seed(seed)
            .between(
                SimLink.ETHERNET.jittered(
                    Duration.ofNanos(new SplittableRandom(seed).nextInt(JITTER_NANOS))))
            .traceLines(0),
        what);
  }

  /// Returns the work of the workers of that job.
  public static SimPushes of(long seed) {
    int staleness = new SplittableRandom(~seed).nextInt(MOST_STALENESS + 1);
    return new SimPushes(
        SERVERS,
        WORKERS,
        PAIRS,
        CLOCKS,
        1,
        staleness == 0 ? Consistency.synchronous() : Consistency.bounded(staleness),
        new Pace(PAUSE, Duration.ofNanos(1000), Duration.ofNanos(2)));
  }
}
