// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.campaign;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.qa.campaign.RunCheck.Expectation;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.sim.FaultScript;
import io.weft.testkit.sim.FaultScript.Scene;
import io.weft.testkit.sim.FaultScript.SimFaultKind;
import io.weft.testkit.sim.SimFault;
import io.weft.testkit.sim.SimRank;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.SimReport.RankResult;
import io.weft.testkit.sim.network.Tamper;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/// A job that loses ranks and continues. The survivors shrink, agree on the step from which they
/// repeat the work, and finish it. They do this for each loss.
final class ShrinkRun {

  private static final Duration LIMIT = Duration.ofSeconds(20);

  /// The time within which all ranks have connected.
  static final Duration JOINED = Duration.ofMillis(8);

  private static final List<SimFaultKind> CRASHES =
      List.of(SimFaultKind.CRASH, SimFaultKind.CRASH, SimFaultKind.HOST_CRASH);

  /// The outcome of a surviving rank.
  ///
  /// @param epoch its last epoch
  /// @param members members of that epoch
  /// @param failures failures that ended the earlier epochs, in order
  record Survivor(long epoch, List<Integer> members, List<CommException> failures) {}

  private ShrinkRun() {}

  /// Returns one crash of a rank or a host while the ranks work. A second crash of a rank may
  /// follow, possibly while the survivors of the first agree.
  static FaultScript script(long seed) {
    SplittableRandom random = new SplittableRandom(seed * 37);
    FaultScript script =
        FaultScript.random(
            seed,
            new Scene(FaultRun.RANKS, FaultRun.HOSTS, FaultRun.HORIZON, FaultRun.LONGEST, CRASHES),
            1);
    if (random.nextBoolean()) {
      Duration later = random.nextBoolean() ? FaultRun.HORIZON : Duration.ofMillis(1500);
      FaultScript second =
          FaultScript.random(
              ~seed,
              new Scene(
                  FaultRun.RANKS,
                  FaultRun.HOSTS,
                  later,
                  FaultRun.LONGEST,
                  List.of(SimFaultKind.CRASH)),
              1);
      script = script.and(second.faults().getFirst());
    }
    return new FaultScript(script.faults().stream().map(ShrinkRun::onceJoined).toList());
  }

  private static SimFault onceJoined(SimFault crash) {
    return switch (crash) {
      case SimFault.Crash(Duration at, int rank) -> new SimFault.Crash(at.plus(JOINED), rank);
      case SimFault.HostCrash(Duration at, int host) ->
          new SimFault.HostCrash(at.plus(JOINED), host);
      default -> throw new IllegalArgumentException(crash + " is not a crash");
    };
  }

  /// Runs the job.
  static SimReport<Survivor> run(long seed, FaultScript script, Tamper tamper)
      throws InterruptedException {
    RandomWork work = new RandomWork(seed, FaultRun.STEPS);
    return FaultRun.simulation(seed, script, tamper)
        .runRanks(
            self -> {
              try (Weft weft = self.join()) {
                return survive(weft, self, work);
              }
            });
  }

  private static Survivor survive(Weft weft, SimRank self, RandomWork work)
      throws InterruptedException {
    List<CommException> failures = new ArrayList<>();
    int step = 0;
    while (true) {
      Communicator comm = weft.communicator();
      try {
        if (weft.epoch() > 0) {
          step = least(step, comm);
        }
        for (; step < FaultRun.STEPS; step++) {
          var unused = work.step(step, comm, self);
        }
        return new Survivor(weft.epoch(), weft.members().ranks(), failures);
      } catch (CommException failed) {
        failures.add(failed);
        var unused = weft.shrink(LIMIT);
      }
    }
  }

  /// Returns the first step that all ranks must repeat.
  private static int least(int step, Communicator comm) throws InterruptedException {
    TensorView at = new TensorView(DType.INT32, Shape.of(1), Arena.ofAuto().allocate(4, 64));
    at.data().set(JAVA_INT, 0, step);
    var unused = comm.allreduce(at, at, ReduceOp.MIN, CollectiveOptions.named("step")).await();
    return at.data().get(JAVA_INT, 0);
  }

  /// Returns the errors in a run as lines: those of any fault run, and each rank that joined, did
  /// not die and did not survive in one epoch with the others. If some ranks completed their work
  /// earlier, the remaining ones may be too few to continue without the dead.
  static List<String> verdict(SimReport<Survivor> report) {
    List<String> wrong = new ArrayList<>(RunCheck.on(report, Expectation.FAILURES));
    HarmedRanks harm = new HarmedRanks(report.faults(), FaultRun.RANKS, FaultRun.HOSTS);
    for (RankResult<Survivor> outcome : report.outcomes()) {
      if (outcome instanceof RankResult.Threw<Survivor>(int rank, Throwable cause)
          && !(cause instanceof CommException.Setup)
          && !(cause instanceof CommException.Aborted && noMajority(report))) {
        wrong.add("rank " + rank + " did not continue: " + cause);
      }
      if (outcome instanceof RankResult.Returned<Survivor>(int rank, Survivor survivor)) {
        for (CommException failure : survivor.failures) {
          String objection = RunCheck.objection(harm, rank, failure);
          if (!objection.isEmpty()) {
            wrong.add("rank " + rank + " " + objection + ": " + failure);
          }
        }
        if (!survivor.members.contains(rank)) {
          wrong.add("rank " + rank + " is not in its epoch " + survivor);
        }
        report.outcomes().stream()
            .filter(other -> isOfAnother(other, survivor))
            .forEach(other -> wrong.add("rank " + rank + " in " + survivor + ", but " + other));
      }
    }
    return wrong;
  }

  private static boolean noMajority(SimReport<Survivor> report) {
    long dead = report.outcomes().stream().filter(RankResult.Died.class::isInstance).count();
    long left = report.outcomes().stream().filter(RankResult.Threw.class::isInstance).count();
    return left <= dead;
  }

  /// Returns whether a rank has survived in a later epoch.
  static boolean shrunk(SimReport<Survivor> report) {
    return report.outcomes().stream()
        .anyMatch(
            outcome ->
                outcome instanceof RankResult.Returned<Survivor>(int rank, Survivor survivor)
                    && survivor.epoch > 0);
  }

  private static boolean isOfAnother(RankResult<Survivor> outcome, Survivor survivor) {
    return outcome instanceof RankResult.Returned<Survivor>(int rank, Survivor other)
        && other.epoch == survivor.epoch
        && !other.members.equals(survivor.members);
  }
}
