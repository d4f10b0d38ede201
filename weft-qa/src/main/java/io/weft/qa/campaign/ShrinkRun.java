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

/// A job that loses ranks and goes on: the survivors shrink, agree from which step on they repeat
/// the work, and finish it, as often as it takes.
final class ShrinkRun {

  private static final Duration LIMIT = Duration.ofSeconds(20);

  /// By then all ranks are connected.
  static final Duration JOINED = Duration.ofMillis(8);

  private static final List<SimFaultKind> CRASHES =
      List.of(SimFaultKind.CRASH, SimFaultKind.CRASH, SimFaultKind.HOST_CRASH);

  /// How a rank came through.
  ///
  /// @param epoch its last
  /// @param members of that epoch
  /// @param failures what ended the epochs before, in order
  record Survivor(long epoch, List<Integer> members, List<CommException> failures) {}

  private ShrinkRun() {}

  /// One crash of a rank or a host while the ranks work, or a second one of a rank, which may come
  /// while the survivors of the first still agree.
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
      default -> throw new IllegalArgumentException(crash + " is no crash");
    };
  }

  /// Runs it.
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

  /// The step that all must repeat.
  private static int least(int step, Communicator comm) throws InterruptedException {
    TensorView at = new TensorView(DType.INT32, Shape.of(1), Arena.ofAuto().allocate(4, 64));
    at.data().set(JAVA_INT, 0, step);
    var unused = comm.allreduce(at, at, ReduceOp.MIN, CollectiveOptions.named("step")).await();
    return at.data().get(JAVA_INT, 0);
  }

  /// What is wrong with a run, a line each: as of any fault run; and every rank that joined and did
  /// not die has come through, in one epoch with all others that needed it. Where others had ended
  /// their work before, those who are left may be too few to go on without the dead.
  static List<String> verdict(SimReport<Survivor> report) {
    List<String> wrong = new ArrayList<>(RunCheck.on(report, Expectation.FAILURES));
    HarmedRanks harm = new HarmedRanks(report.faults(), FaultRun.RANKS, FaultRun.HOSTS);
    for (RankResult<Survivor> outcome : report.outcomes()) {
      if (outcome instanceof RankResult.Threw<Survivor>(int rank, Throwable cause)
          && !(cause instanceof CommException.Setup)
          && !(cause instanceof CommException.Aborted && noMajority(report))) {
        wrong.add("rank " + rank + " did not go on: " + cause);
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

  /// Whether a rank has come through in a later epoch.
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
