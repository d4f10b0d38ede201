// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.WeftConfig;
import io.weft.collective.Algorithms;
import io.weft.comm.CommException;
import io.weft.perf.Rounds.RoundContestant;
import io.weft.perf.kv.KvCommand;
import io.weft.perf.process.CProgram;
import io.weft.perf.process.Interruption;
import io.weft.perf.process.PerfException;
import io.weft.perf.process.SearchPath;
import io.weft.perf.report.BenchmarkHost;
import io.weft.perf.report.JsonLines;
import io.weft.perf.report.PerfProgress;
import io.weft.perf.report.ReportFile;
import io.weft.perf.traffic.TrafficCommand;
import io.weft.perf.training.TrainingCommand;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `weft perf`: compares Weft with peers. Exits with 0 on success, 1 if a measurement failed or a
/// result was wrong, 2 for a wrong command line, 3 if a requirement is missing.
@Command(
    name = "perf",
    mixinStandardHelpOptions = true,
    subcommands = {
      TrafficCommand.class,
      GradientsCommand.class,
      KvCommand.class,
      TrainingCommand.class
    },
    description = {
      "Measures a collective, a transport alone, or a step of a graph over two processes, and"
          + " compares Weft with peers in the same run.",
      "",
      "Each round starts new ranks of Weft and of each peer, which run the same sizes and"
          + " iterations. Contestants of a collective work in turn while the others wait: each size"
          + " is timed in five turns of each. Before each timed call the data is rewritten and the"
          + " ranks pass an untimed barrier. After it the whole result is compared. The time of a"
          + " call is that of its slowest rank. The table shows the medians over the rounds of"
          + " p50, p99 and mean.",
      "",
      "The table has three ratios to each peer, which exceed 1 if Weft is faster: of the medians"
          + " over the rounds (p50), the median of the ratios within each round (pairs), and of the"
          + " fastest calls (best). If p50 and pairs differ, the machine was busy: measure more"
          + " rounds.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft perf allreduce --peer openmpi,gloo --plot curves.png --json figures.jsonl",
      "  weft perf allreduce -np 4 --bytes 4,1M,64M --rounds 9 --peer openmpi",
      "  weft perf allreduce --bytes 1M --rounds 9 --handover 150 --peer openmpi",
      "  weft perf bandwidth --bytes 64M --peer c,memcpy",
      "  weft perf pingpong --bytes 64 --peer openmpi,c",
      "  weft perf messages --outstanding 256 --peer openmpi,c,grpc",
      "  weft perf writes --bytes 64K --outstanding 128 --transport verbs --peer perftest",
      "  weft perf registration --transport verbs --peer each-time",
      "  weft perf sendrecv --transport shm --peer grpc",
      "  weft perf gradients --model resnet101 --fusion on,off",
      "  weft perf allreduce -np 4 --transport shm --explain",
      "",
      "Lines of the table, builds of the peers, and pitfalls: docs/measuring.md"
    })
public final class PerfCommand implements Callable<Integer> {

  private static final Duration LONGEST_WAIT_FOR_PROCESSORS = Duration.ofMinutes(2);

  private final MeasuredPeer weft;
  private final List<MeasuredPeer> peers;

  @Spec private @Nullable CommandSpec spec;

  @Mixin private PerfOptions options = new PerfOptions();

  /// Creates the command with all peers.
  public PerfCommand() {
    this(new WeftPeer(), peers(SearchPath.ofEnvironment(), CProgram.userCache()));
  }

  /// Returns all peers in the order of messages.
  static List<MeasuredPeer> peers(SearchPath path, Path cache) {
    return List.of(
        new OpenMpi(path, cache),
        CompiledPeer.gloo(path, cache),
        CompiledPeer.plainC(path, cache),
        CompiledPeer.memcpy(path, cache),
        new GrpcPeer(),
        Perftest.writes(path),
        Perftest.sends(path),
        WeftPeer.eachTime());
  }

  PerfCommand(MeasuredPeer weft, List<MeasuredPeer> peers) {
    this.weft = weft;
    this.peers = List.copyOf(peers);
  }

  @Override
  public Integer call() throws InterruptedException {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    PrintWriter err = command.commandLine().getErr();
    Interruption interruption = Interruption.toldTo(err);
    try {
      MeasuringPlan plan = options.plan(command.subcommands().keySet());
      if (options.explains()) {
        return explain(plan, command.commandLine().getOut(), err);
      }
      List<RoundContestant> contestants = new ArrayList<>();
      for (MeasuredPeer peer : contestants()) {
        contestants.add(new RoundContestant(peer.name(), peer.prepare(plan)));
      }
      List<Measurement> measurements = measure(plan, contestants, err);
      command.commandLine().getOut().print(new RatioTable(measurements).text());
      command.commandLine().getOut().flush();
      boolean kept = save(measurements, err);
      int code = verdict(measurements, err);
      return kept ? code : 1;
    } catch (IllegalArgumentException | CommException.Setup e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    } catch (PerfException.Missing e) {
      err.println("weft: " + e.getMessage());
      return 3;
    } catch (PerfException.Failed e) {
      interruption.tell(e);
      return 1;
    } finally {
      interruption.close();
    }
  }

  private int explain(MeasuringPlan plan, PrintWriter out, PrintWriter err) {
    WeftConfig config = WeftConfig.load();
    Explanation explanation =
        new Explanation(
            plan,
            WeftPeer.sharesMemory(plan.transport()),
            WeftPeer.isOneSided(plan.transport()),
            config.eagerBytes().orElse(WeftPeer.eagerBytes(plan.transport())),
            Algorithms.table(config.algorithms()));
    out.print(explanation.text());
    out.flush();
    Path json = options.json();
    boolean kept =
        json == null
            || new ReportFile("--json", json)
                .write(file -> JsonLines.write(file, explanation.lines()), err);
    return kept ? 0 : 1;
  }

  private List<Measurement> measure(
      MeasuringPlan plan, List<RoundContestant> contestants, PrintWriter err)
      throws InterruptedException {
    BenchmarkHost host = BenchmarkHost.here();
    try (PerfProgress progress = PerfProgress.to(err)) {
      return new Rounds(
              plan,
              options.rounds(),
              options.handover(),
              Handover::nanos,
              LONGEST_WAIT_FOR_PROCESSORS,
              progress)
          .run(contestants, host);
    }
  }

  private List<MeasuredPeer> contestants() {
    List<MeasuredPeer> contestants = new ArrayList<>(List.of(weft));
    for (String name : options.peers()) {
      contestants.add(
          peers.stream()
              .filter(peer -> peer.name().equals(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "--peer: unknown peer '%s'; allowed: %s"
                              .formatted(
                                  name,
                                  peers.stream()
                                      .map(MeasuredPeer::name)
                                      .collect(Collectors.joining(", "))))));
    }
    return contestants.stream().distinct().toList();
  }

  /// Writes the requested files. Returns true if all were written.
  private boolean save(List<Measurement> measurements, PrintWriter err) {
    boolean kept = true;
    Path json = options.json();
    if (json != null) {
      kept &=
          new ReportFile("--json", json).write(file -> JsonLines.write(file, measurements), err);
    }
    Path plot = options.plot();
    if (plot != null) {
      kept &= new ReportFile("--plot", plot).write(new CurvePlot(measurements)::save, err);
    }
    return kept;
  }

  private static int verdict(List<Measurement> measurements, PrintWriter err) {
    List<Measurement> wrong = measurements.stream().filter(Measurement::differs).toList();
    wrong.forEach(
        m ->
            err.println(
                "weft: %s gave a wrong result: %s of %s on %d ranks over %s"
                    .formatted(
                        m.peer(),
                        m.benchmark(),
                        ByteSizes.format(m.bytes()),
                        m.ranks(),
                        m.transport())));
    return wrong.isEmpty() ? 0 : 1;
  }
}
