// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.campaign;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.testkit.sim.FaultScript;
import io.weft.testkit.sim.FaultScript.Scene;
import io.weft.testkit.sim.FaultScript.SimFaultKind;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.network.Limits;
import io.weft.testkit.sim.network.SimLink;
import io.weft.testkit.sim.network.Tamper;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/// One job of 16 ranks on 5 hosts with random work, a random network, and faults. The seed
/// determines it.
final class FaultRun {

  static final int RANKS = 16;
  static final int HOSTS = 5;
  static final int STEPS = 8;

  /// The time within which faults begin. Most jobs join and work in this time.
  static final Duration HORIZON = Duration.ofMillis(25);

  /// The longest duration of a fault, which exceeds the silence limit but not the deadlines.
  static final Duration LONGEST = Duration.ofSeconds(3);

  static final WeftConfig CONFIG =
      WeftConfig.builder()
          .eagerBytes(200)
          .segmentBytes(4096)
          .heartbeat(Duration.ofMillis(200))
          .silenceLimit(Duration.ofSeconds(1))
          .deadline(Duration.ofSeconds(4))
          .startDeadline(Duration.ofSeconds(5))
          .build();

  private FaultRun() {}

  /// Returns 1 to `most` faults of these kinds.
  static FaultScript script(long seed, List<SimFaultKind> kinds, int most) {
    int number = 1 + new SplittableRandom(seed * 31).nextInt(most);
    return FaultScript.random(seed, new Scene(RANKS, HOSTS, HORIZON, LONGEST, kinds), number);
  }

  /// Returns a simulation whose links and limits depend on the seed.
  static Simulation simulation(long seed, FaultScript script, Tamper tamper) {
    SplittableRandom random = new SplittableRandom(~seed);
    SimLink between =
        SimLink.of(
                Duration.ofNanos(random.nextLong(2_000, 200_000)),
                random.nextDouble(2e7, 2e9),
                Duration.ofNanos(random.nextLong(2_000)))
            .jittered(Duration.ofNanos(random.nextLong(300_000)));
    Limits limits = new Limits(1 << random.nextInt(1, 9), 1 << random.nextInt(8, 18), 16 << 10);
    return Simulation.of(RANKS)
        .hosts(HOSTS)
        .seed(seed)
        .between(between)
        .limits(limits)
        .config(CONFIG)
        .faults(script)
        .tamper(tamper)
        .limit(Duration.ofSeconds(60))
        .traceLines(0);
  }

  /// Runs the job. Each rank returns its number of checked results.
  static SimReport<Integer> run(long seed, FaultScript script, Tamper tamper)
      throws InterruptedException {
    return run(seed, simulation(seed, script, tamper));
  }

  /// Runs the job in `simulation`.
  static SimReport<Integer> run(long seed, Simulation simulation) throws InterruptedException {
    RandomWork work = new RandomWork(seed, STEPS);
    return simulation.runRanks(
        self -> {
          try (Weft weft = self.join()) {
            return work.run(weft, self);
          }
        });
  }
}
