// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.testkit.sim.network.Limits;
import io.weft.testkit.sim.network.Network;
import io.weft.testkit.sim.network.SimLink;
import io.weft.testkit.sim.network.Tamper;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/// A job in virtual time. Each rank runs a plain, blocking program over Weft's production code, on
/// a simulated network with the configured faults. Only one thread runs at a time, and the events
/// are a function of the settings and the seed.
///
/// ```java
/// SimReport<Float> report =
///     Simulation.of(16).hosts(4).seed(42)
///         .fault(new SimFault.Crash(Duration.ofMillis(30), 5))
///         .run(weft -> sumOnce(weft.communicator()));
/// ```
///
/// It is configured and run by one thread, and may be run again.
public final class Simulation {

  /// The default duration of an agent's duty cycle.
  public static final Duration CYCLE = Duration.ofNanos(1000);

  private static final int MAX_RANKS = 2048;

  /// The wake-up time measured on current machines (`IdleStrategy`), rounded down.
  private static final long WAKE_NANOS = 20_000;

  private final int ranks;
  private int hosts = 1;
  private long seed = 1;
  private SimLink between = SimLink.ETHERNET;
  private SimLink within = SimLink.MEMORY;
  private Limits limits = Limits.DEFAULT;
  private Tamper tamper = Tamper.NONE;
  private FaultScript script = FaultScript.NONE;
  private Duration cycle = CYCLE;
  private Duration idle = Duration.ofMillis(10);
  private Duration limit = Duration.ofMinutes(10);
  private WeftConfig config = WeftConfig.builder().build();
  private Duration realTimeLimit = Duration.ofSeconds(60);
  private int traceLines = 1000;

  private Simulation(int ranks) {
    this.ranks = ranks;
  }

  /// The program of one rank, on a separate thread that runs only while the others wait. It may
  /// wait only in Weft's calls and in `SimRank`'s; any other blocking stops the whole simulation.
  @FunctionalInterface
  public interface Program<T> {

    /// Runs the program. An exception is the rank's outcome.
    T run(SimRank self) throws Exception;
  }

  /// The program of one rank after it has joined the job.
  @FunctionalInterface
  public interface Body<T> {

    /// Runs the program. An exception is the rank's outcome.
    T run(Weft weft) throws Exception;
  }

  /// Returns a simulation of 1 to 2,048 ranks, by default on one host.
  public static Simulation of(int ranks) {
    if (ranks < 1 || ranks > MAX_RANKS) {
      throw new IllegalArgumentException(ranks + " ranks; 1 to " + MAX_RANKS + " are simulated");
    }
    return new Simulation(ranks);
  }

  /// Sets the number of hosts: rank r is on host `r * hosts / ranks`, rounded down.
  public Simulation hosts(int number) {
    if (number < 1 || number > ranks) {
      throw new IllegalArgumentException(number + " hosts for " + ranks + " ranks");
    }
    hosts = number;
    return this;
  }

  /// Sets the seed of all random values. Default 1.
  public Simulation seed(long number) {
    seed = number;
    return this;
  }

  /// Sets the link between two hosts. Default `SimLink.ETHERNET`.
  public Simulation between(SimLink link) {
    Objects.requireNonNull(link, "link");
    between = link;
    return this;
  }

  /// Sets the link between two ranks of one host. Default `SimLink.MEMORY`.
  public Simulation within(SimLink link) {
    Objects.requireNonNull(link, "link");
    within = link;
    return this;
  }

  /// Sets the limits of an end of a connection. Default `Limits.DEFAULT`.
  public Simulation limits(Limits of) {
    limits = of;
    return this;
  }

  /// Breaks the protocol on purpose.
  public Simulation tamper(Tamper with) {
    Objects.requireNonNull(with, "with");
    tamper = with;
    return this;
  }

  /// Adds a fault.
  public Simulation fault(SimFault fault) {
    script = script.and(fault);
    return this;
  }

  /// Adds the faults of a script.
  public Simulation faults(FaultScript more) {
    for (SimFault fault : more.faults()) {
      script = script.and(fault);
    }
    return this;
  }

  /// Sets the duration of an agent's duty cycle. Default `CYCLE`, 1 us.
  public Simulation cycle(Duration time) {
    Objects.requireNonNull(time, "time");
    cycle = time;
    return this;
  }

  /// Sets the time between duty cycles of an idle agent. Default 10 ms, as in production.
  public Simulation idle(Duration time) {
    Objects.requireNonNull(time, "time");
    idle = time;
    return this;
  }

  /// Sets the virtual time after which a program that has not ended is reported as hung. Default 10
  /// minutes.
  public Simulation limit(Duration time) {
    Objects.requireNonNull(time, "time");
    limit = time;
    return this;
  }

  /// Sets the real time for which one program may compute or block before the simulation fails.
  /// Default 1 minute.
  public Simulation realTimeLimit(Duration time) {
    Objects.requireNonNull(time, "time");
    realTimeLimit = time;
    return this;
  }

  /// Sets the settings of all ranks. Default: those of this process.
  public Simulation config(WeftConfig settings) {
    Objects.requireNonNull(settings, "settings");
    config = settings;
    return this;
  }

  /// Sets the number of events that the trace keeps as lines, the last ones. Default 1000.
  public Simulation traceLines(int lines) {
    traceLines = lines;
    return this;
  }

  /// Joins on all ranks, runs the body, and leaves. Throws `IllegalStateException` if a program
  /// waits for something outside virtual time.
  public <T> SimReport<T> run(Body<T> body) throws InterruptedException {
    Objects.requireNonNull(body, "body");
    return runRanks(
        self -> {
          try (Weft weft = self.join()) {
            return body.run(weft);
          }
        });
  }

  /// Runs a program on all ranks that itself joins the job.
  public <T> SimReport<T> runRanks(Program<T> program) throws InterruptedException {
    Objects.requireNonNull(program, "program");
    Network.Setup network = new Network.Setup(hosts, between, within, limits, tamper);
    Terms terms =
        new Terms(
            ranks,
            seed,
            network,
            new SimProcess.Pace(
                ClampedDuration.nanos(cycle), ClampedDuration.nanos(idle), WAKE_NANOS),
            script.faults(),
            new TimeLimits(ClampedDuration.nanos(limit), realTimeLimit),
            config,
            traceLines);
    return new SimRun<>(terms, program).run();
  }

  /// The limits of a run, in simulated and in real time.
  record TimeLimits(long simulatedNanos, Duration real) {}

  /// The settings of a run.
  record Terms(
      int ranks,
      long seed,
      Network.Setup network,
      SimProcess.Pace pace,
      List<SimFault> faults,
      TimeLimits limits,
      WeftConfig config,
      int traceLines) {

    int hostOf(int rank) {
      return (int) ((long) rank * network.hosts() / ranks);
    }
  }
}
