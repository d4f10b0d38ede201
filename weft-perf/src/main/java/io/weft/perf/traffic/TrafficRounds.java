// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.perf.report.RankPrinter;
import java.time.Duration;

/// One round of a contestant: a warm-up with the most workers, then each number of workers.
final class TrafficRounds {
  /// The first warm-up is this many times longer, because the JVM compiles the timed code in it.
  private static final int COMPILING_TIMES = 5;

  /// A number above a worker's steps in one case. The step numbers of case n begin at n times this
  /// number.
  private static final int STEPS_OF_A_CASE = 1 << 24;

  private TrafficRounds() {}

  /// The part of a process in a case.
  @FunctionalInterface
  interface Part {
    /// Runs the case to its end. Returns the number of its requests, -1 for one for each tensor.
    long run(TrafficCase one, long firstStep) throws InterruptedException;
  }

  /// Runs a round and prints its report.
  static void run(TrafficPlan plan, String peer, RankPrinter printer, Part part)
      throws InterruptedException {
    printer.peer(peer);
    long first = 0;
    Duration compiling = plan.warmUp().multipliedBy(COMPILING_TIMES);
    try (var one = new TrafficCase(plan.most(), compiling, Duration.ofMillis(1))) {
      long unused = part.run(one, first);
    }
    for (int workers : plan.workers()) {
      first += STEPS_OF_A_CASE;
      try (var one = new TrafficCase(workers, plan.warmUp(), plan.window())) {
        one.print(printer, part.run(one, first), plan.tensors());
      }
    }
    printer.done();
  }
}
