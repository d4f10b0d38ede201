// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.Weft;
import io.weft.agent.Agent;
import io.weft.agent.AgentRunner;
import io.weft.agent.AgentRunners;
import io.weft.agent.IdleStrategy;
import io.weft.agent.Ticker;
import io.weft.testkit.sim.clock.EventQueue;
import io.weft.testkit.sim.clock.SimThread;
import io.weft.testkit.sim.network.SimNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/// One process of a simulated job: its clock, its processor, its program and its progress threads.
/// The processor runs one duty cycle at a time, and none while the process is stopped.
final class SimProcess implements SimNode, Ticker, AgentRunners {

  private final EventQueue events;
  private final int rank;
  private final int host;
  private final int incarnation;
  private final Pace pace;
  private final List<SimAgentRunner> runners = new ArrayList<>(1);
  private @Nullable SimThread simThread;
  private @Nullable ProcessDied death;
  private long skewNanos;
  private long cycleNanos;
  private long busyUntil;
  private long stoppedUntil;
  private boolean inTransport;
  private @Nullable Weft weft;

  /// The times that all processes of a simulation share.
  ///
  /// @param cycleNanos duration of a duty cycle
  /// @param idleNanos time between the duty cycles of an idle agent
  /// @param wakeNanos time that a thread that sleeps in its transport takes to wake
  record Pace(long cycleNanos, long idleNanos, long wakeNanos) {}

  SimProcess(EventQueue events, Pace pace, int rank, int host, int incarnation) {
    this.events = events;
    this.cycleNanos = pace.cycleNanos;
    this.pace = pace;
    this.rank = rank;
    this.host = host;
    this.incarnation = incarnation;
  }

  void runs(SimThread program) {
    simThread = program;
  }

  SimThread simThread() {
    return Objects.requireNonNull(simThread);
  }

  /// Returns the latest membership of its program; null if it has none.
  @Nullable Weft weft() {
    return weft;
  }

  void joined(Weft as) {
    weft = as;
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int host() {
    return host;
  }

  @Override
  public int incarnation() {
    return incarnation;
  }

  // --- time

  @Override
  public long nanos() {
    return events.now() + skewNanos;
  }

  /// Returns the virtual moment at which this process's clock shows `nanos`.
  long moment(long nanos) {
    return nanos - skewNanos;
  }

  /// Changes the process's clock by `nanos` and wakes everything that waits for it.
  void skew(long nanos) {
    skewNanos += nanos;
    stir();
    simThread().resumeAt(events.now());
  }

  /// Returns the time at which the processor is free for this process.
  long freeNanos() {
    return Math.max(busyUntil, stoppedUntil);
  }

  /// Begins a duty cycle.
  void works() {
    busyUntil = events.now() + cycleNanos;
  }

  long busyUntil() {
    return busyUntil;
  }

  long cycleNanos() {
    return cycleNanos;
  }

  void setCycle(long nanos) {
    cycleNanos = nanos;
  }

  void stopUntil(long nanos) {
    stoppedUntil = Math.max(stoppedUntil, nanos);
  }

  long idleNanos() {
    return pace.idleNanos;
  }

  EventQueue events() {
    return events;
  }

  // --- waiting

  @Override
  public void stir() {
    long free = Math.max(events.now(), freeNanos());
    for (int i = 0; i < runners.size(); i++) {
      runners.get(i).runBy(free);
    }
    if (inTransport) {
      simThread().resumeAt(Math.max(free, events.now() + pace.wakeNanos));
    }
  }

  @Override
  public void await(long maxNanos) {
    requireOwnThread();
    inTransport = true;
    try {
      simThread().blockUntil(events.now() + maxNanos);
    } finally {
      inTransport = false;
    }
    works();
  }

  /// Blocks the calling program until it is resumed, or until this moment of virtual time.
  void block(long untilNanos) {
    requireOwnThread();
    simThread().blockUntil(untilNanos);
  }

  void requireOwnThread() {
    if (!simThread().isCurrent()) {
      throw new IllegalStateException(
          "a thread other than the program waits in the simulated rank "
              + rank
              + "; only the rank's program may, because only it runs in virtual time");
    }
    ProcessDied dead = death;
    if (dead != null) {
      throw dead;
    }
  }

  // --- progress threads

  @Override
  public Ticker ticker() {
    return this;
  }

  @Override
  public AgentRunner runner(Agent agent, IdleStrategy own, IdleStrategy caller) {
    SimAgentRunner runner = new SimAgentRunner(this, agent);
    runners.add(runner);
    return runner;
  }

  @Override
  public ExecutorService executor(String name) {
    return new SimExecutor(this);
  }

  void forget(SimAgentRunner runner) {
    runners.remove(runner);
  }

  List<SimAgentRunner> runners() {
    return runners;
  }

  // --- death

  boolean isDead() {
    return death != null;
  }

  String causeOfDeath() {
    return death == null ? "" : String.valueOf(death.getMessage());
  }

  void die(String why) {
    if (death == null) {
      ProcessDied cause = new ProcessDied(why);
      death = cause;
      runners.forEach(SimAgentRunner::halt);
      simThread().kill(cause);
    }
  }

  @Override
  public String toString() {
    return "rank " + rank + (incarnation == 0 ? "" : " (process " + incarnation + ")");
  }
}
