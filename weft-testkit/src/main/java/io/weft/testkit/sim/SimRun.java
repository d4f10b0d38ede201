// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.testkit.sim.SimReport.RankResult;
import io.weft.testkit.sim.clock.EventQueue;
import io.weft.testkit.sim.clock.SimScheduler;
import io.weft.testkit.sim.clock.SimThread;
import io.weft.testkit.sim.network.Journal.What;
import io.weft.testkit.sim.network.Network;
import io.weft.testkit.sim.network.SimNode;
import io.weft.transport.spi.Secret;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// One run of a simulation.
final class SimRun<T> {

  private static final long START_SPREAD_NANOS = 1_000_000;
  private static final long CLOCK_SPREAD_NANOS = 1L << 50;
  private static final Secret SECRET =
      Secret.of("the secret of a simulated job".getBytes(StandardCharsets.US_ASCII));

  private final Simulation.Terms terms;
  private final Simulation.Program<T> program;
  private final EventQueue events = new EventQueue();
  private final SplittableRandom chance;
  private final Trace trace;
  private final Network network;
  private final SimScheduler scheduler;
  private final SimStore store = new SimStore();
  private final List<Life> lives = new ArrayList<>();
  private final List<SimProcess> present = new ArrayList<>();
  private final Wording wording = new Wording();
  private long lastEndNanos;

  /// One process and the outcome of its program.
  private final class Life {
    final SimProcess process;
    @Nullable RankResult<T> outcome;

    Life(SimProcess process) {
      this.process = process;
    }
  }

  SimRun(Simulation.Terms terms, Simulation.Program<T> program) {
    this.terms = terms;
    this.program = program;
    this.chance = new SplittableRandom(terms.seed());
    this.scheduler = new SimScheduler(events, terms.limits().real());
    this.trace = new Trace(events::now, wording, terms.traceLines());
    this.network = new Network(events, chance.split(), terms.network(), trace);
  }

  EventQueue events() {
    return events;
  }

  Network network() {
    return network;
  }

  Simulation.Terms terms() {
    return terms;
  }

  SimStore store() {
    return store;
  }

  Secret secret() {
    return SECRET;
  }

  /// Returns the latest process of a rank.
  Wording wording() {
    return wording;
  }

  SimProcess present(int rank) {
    return present.get(rank);
  }

  void say(What what, SimNode who, String words) {
    trace.say(what, who, words);
  }

  SimReport<T> run() throws InterruptedException {
    for (int rank = 0; rank < terms.ranks(); rank++) {
      SimProcess process = process(rank, 0);
      present.add(process);
      begin(process, SimFault.Memory.NOTHING, chance.nextLong(START_SPREAD_NANOS));
    }
    FaultInjector injector = new FaultInjector(this, chance.split());
    terms.faults().forEach(injector::prepare);
    try {
      List<SimThread> hung = scheduler.run(terms.limits().simulatedNanos());
      if (!hung.isEmpty()) {
        lastEndNanos = terms.limits().simulatedNanos();
        lives.stream().filter(life -> hung.contains(life.process.simThread())).forEach(this::hang);
      }
    } finally {
      scheduler.close(new ProcessDied("the simulation is over"));
    }
    return report(injector.struck());
  }

  private SimProcess process(int rank, int incarnation) {
    SimProcess process =
        new SimProcess(events, terms.pace(), rank, terms.hostOf(rank), incarnation);
    return process;
  }

  /// Starts the rank's program in a new process.
  void restart(int rank, SimFault.Memory memory) {
    SimProcess process = process(rank, present.get(rank).incarnation() + 1);
    present.set(rank, process);
    begin(process, memory, events.now());
  }

  private void begin(SimProcess process, SimFault.Memory memory, long atNanos) {
    Life life = new Life(process);
    lives.add(life);
    RandomGenerator random = chance.split();
    Participant<T> self = new Participant<>(this, process, memory, random);
    SimThread simThread =
        scheduler.simThread(process.toString(), () -> live(life, self), process::freeNanos);
    process.runs(simThread);
    process.skew(random.nextLong(-CLOCK_SPREAD_NANOS, CLOCK_SPREAD_NANOS));
    simThread.startAt(atNanos);
  }

  private void live(Life life, SimRank self) {
    SimProcess process = life.process;
    trace.say(What.BEGUN, process, "");
    RankResult<T> outcome;
    try {
      outcome = new RankResult.Returned<>(process.rank(), program.run(self));
    } catch (ProcessDied died) {
      outcome = new RankResult.Died<>(process.rank(), String.valueOf(died.getMessage()));
    } catch (Throwable failure) {
      outcome = new RankResult.Threw<>(process.rank(), failure);
    }
    if (life.outcome != null) {
      return;
    }
    if (process.isDead()) {
      outcome = new RankResult.Died<>(process.rank(), process.causeOfDeath());
    }
    life.outcome = outcome;
    lastEndNanos = events.now();
    trace.say(What.ENDED, process, outcome.getClass().getSimpleName());
  }

  private void hang(Life life) {
    SimThread simThread = life.process.simThread();
    StackTraceElement where = null;
    for (StackTraceElement frame : simThread.stack()) {
      if (frame.getClassName().startsWith("io.weft.")
          && !frame.getClassName().startsWith("io.weft.testkit.sim.")) {
        where = frame;
        break;
      }
    }
    double since = (terms.limits().simulatedNanos() - simThread.waitingSinceNanos()) / 1e9;
    life.outcome =
        new RankResult.Hung<>(life.process.rank(), "waits for " + since + " s in " + where);
    trace.say(What.ENDED, life.process, "Hung");
  }

  private SimReport<T> report(List<SimFault> struck) {
    List<RankResult<T>> outcomes = new ArrayList<>();
    List<RankResult<T>> restarts = new ArrayList<>();
    for (Life life : lives) {
      RankResult<T> outcome = life.outcome;
      if (outcome == null) {
        outcome = new RankResult.Died<>(life.process.rank(), "it never began");
      }
      (life.process.incarnation() == 0 ? outcomes : restarts).add(outcome);
    }
    return new SimReport<>(
        terms.seed(), outcomes, restarts, struck, Duration.ofNanos(lastEndNanos), trace);
  }
}
