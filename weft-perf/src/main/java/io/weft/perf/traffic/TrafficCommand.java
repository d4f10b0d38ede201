// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.cluster.SecureMode;
import io.weft.comm.CommException;
import io.weft.perf.process.CarrierOptions;
import io.weft.perf.process.Interruption;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import io.weft.perf.report.JsonLines;
import io.weft.perf.report.PerfProgress;
import io.weft.perf.report.Picture;
import io.weft.perf.report.ReportFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `weft perf wide-deep-traffic`: the step rate of many workers. Exits with 0 on success, 1 if a
/// measurement failed or a tensor was wrong, 2 for a wrong command line, 3 if a requirement is
/// missing.
@Command(
    name = "wide-deep-traffic",
    mixinStandardHelpOptions = true,
    description = {
      "Measures the traffic of wide-and-deep training with many workers: in each step a worker"
          + " receives hundreds of small tensors from parameter servers, computes (a pause), and"
          + " sends equally many gradients back. The workers are light and share a process; each"
          + " server is a process. Weft runs twice: with one request for many receives ('weft')"
          + " and with one request for each receive ('weft single').",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft perf wide-deep-traffic --workers 100",
      "  weft perf wide-deep-traffic --workers 1,10,100 --peer grpc --plot curve.svg --json"
          + " t.jsonl",
      "  weft perf wide-deep-traffic --rounds 0 --simulated traffic.jsonl --plot simulated.svg",
      "",
      "Measured and simulated figures: docs/measuring.md"
    })
public final class TrafficCommand implements Callable<Integer> {

  private static final int MOST_ROUNDS = 1000;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--workers",
      paramLabel = "LIST",
      split = ",",
      defaultValue = "1,10,50,100",
      description = "numbers of workers (default: ${DEFAULT-VALUE})")
  private List<Integer> workers = List.of();

  @Option(
      names = "--servers",
      paramLabel = "N",
      defaultValue = "10",
      description = "parameter servers, each in one process (default: ${DEFAULT-VALUE})")
  private int servers;

  @Option(
      names = "--tensors",
      paramLabel = "N",
      defaultValue = "300",
      description =
          "tensors that a step receives, and gradients that it sends"
              + " (default: ${DEFAULT-VALUE})")
  private int tensors;

  @Option(
      names = "--bytes",
      paramLabel = "N",
      defaultValue = "256",
      description = "bytes of each tensor and gradient (default: ${DEFAULT-VALUE})")
  private int bytes;

  @Option(
      names = "--compute",
      paramLabel = "US",
      defaultValue = "20000",
      description = "microseconds that a worker computes in a step (default: ${DEFAULT-VALUE})")
  private long computeMicros;

  @Mixin private CarrierOptions carrier = new CarrierOptions();

  @Option(
      names = "--peer",
      paramLabel = "PEER",
      split = ",",
      description = "system to compare with: grpc (grpc-java, a call for each tensor)")
  private List<String> peers = new ArrayList<>();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "interleaved rounds; 0 skips measuring (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--warm-up",
      paramLabel = "MS",
      defaultValue = "2000",
      description =
          "milliseconds of untimed traffic of each case, five times that before the first"
              + " (default: ${DEFAULT-VALUE})")
  private long warmUpMillis;

  @Option(
      names = "--window",
      paramLabel = "MS",
      defaultValue = "5000",
      description = "milliseconds for which each case is measured (default: ${DEFAULT-VALUE})")
  private long windowMillis;

  @Option(
      names = "--limit",
      paramLabel = "S",
      defaultValue = "300",
      description = "seconds that one round of one contestant may take (default: ${DEFAULT-VALUE})")
  private long limitSeconds;

  @Option(
      names = "--simulated",
      paramLabel = "FILE",
      description = "also draw the output of 'tools/simulate traffic --json'")
  private @Nullable Path simulated;

  @Option(names = "--json", paramLabel = "FILE", description = "write one JSON object per line")
  private @Nullable Path json;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "draw the curves; FILE ends in .svg or .png")
  private @Nullable Path plot;

  /// For picocli.
  public TrafficCommand() {}

  @Override
  public Integer call() throws InterruptedException, IOException {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    PrintWriter out = command.commandLine().getOut();
    PrintWriter err = command.commandLine().getErr();
    Interruption interruption = Interruption.toldTo(err);
    try {
      TrafficPlan plan = plan();
      List<TrafficFigure> drawn = new ArrayList<>();
      if (simulated != null) {
        drawn.addAll(SimulatedFigures.read(simulated));
      }
      List<TrafficFigure> measured = measure(plan, contestants(plan), err);
      out.print(new TrafficTable(measured).text());
      out.flush();
      drawn.addAll(0, measured);
      boolean kept = save(measured, drawn, err);
      return kept && measured.stream().allMatch(figure -> Boolean.TRUE.equals(figure.checked()))
          ? 0
          : 1;
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

  private TrafficPlan plan() {
    if (rounds < 0 || rounds > MOST_ROUNDS) {
      throw new IllegalArgumentException(
          "--rounds: %d is out of range; allowed: 0 to %d".formatted(rounds, MOST_ROUNDS));
    }
    if (rounds == 0 && simulated == null) {
      throw new IllegalArgumentException("--rounds: 0 measures nothing; give --simulated");
    }
    if (limitSeconds < 1) {
      throw new IllegalArgumentException("--limit: " + limitSeconds + " s; at least 1");
    }
    if (plot != null && !Picture.knows(plot)) {
      throw new IllegalArgumentException("--plot: " + plot + " must end in .svg or .png");
    }
    for (String peer : peers) {
      if (!peer.equals("grpc")) {
        throw new IllegalArgumentException("--peer: unknown peer '" + peer + "'; allowed: grpc");
      }
    }
    return new TrafficPlan(
        servers,
        tensors,
        bytes,
        Duration.ofNanos(computeMicros * 1000),
        Duration.ofMillis(warmUpMillis),
        Duration.ofMillis(windowMillis),
        workers.stream().distinct().sorted().toList());
  }

  private List<TrafficContestant> contestants(TrafficPlan plan) {
    Duration limit = Duration.ofSeconds(limitSeconds);
    String transport = carrier.transport();
    SecureMode mode = carrier.secure();
    List<TrafficContestant> all = new ArrayList<>();
    all.add(TrafficContestant.weft(plan, transport, mode, true, limit));
    all.add(TrafficContestant.weft(plan, transport, mode, false, limit));
    if (!peers.isEmpty()) {
      all.add(TrafficContestant.grpc(plan, limit));
    }
    return all;
  }

  /// Measures the contestants in turn, so that other load on the machine affects all of them.
  private List<TrafficFigure> measure(
      TrafficPlan plan, List<TrafficContestant> contestants, PrintWriter err)
      throws InterruptedException {
    BenchmarkHost host = BenchmarkHost.here();
    List<List<TrafficReport>> reports = new ArrayList<>();
    contestants.forEach(each -> reports.add(new ArrayList<>()));
    try (PerfProgress progress = PerfProgress.to(err)) {
      for (int round = 1; round <= rounds; round++) {
        for (int c = 0; c < contestants.size(); c++) {
          progress.accept("round %d of %d: %s".formatted(round, rounds, contestants.get(c).name()));
          reports.get(c).add(TrafficReport.parse(contestants.get(c).round().run(), plan));
        }
      }
    }
    List<TrafficFigure> figures = new ArrayList<>();
    for (int i = 0; rounds > 0 && i < plan.workers().size(); i++) {
      for (int c = 0; c < contestants.size(); c++) {
        int at = i;
        figures.add(
            TrafficFigure.of(
                plan,
                contestants.get(c).called(reports.get(c).getFirst().peer()),
                contestants.get(c).transport(),
                reports.get(c).stream().map(report -> report.cases().get(at)).toList(),
                host));
      }
    }
    return figures;
  }

  /// Writes the requested files. Returns true if all were written.
  private boolean save(List<TrafficFigure> measured, List<TrafficFigure> drawn, PrintWriter err) {
    boolean kept = true;
    if (json != null) {
      kept &= new ReportFile("--json", json).write(file -> JsonLines.write(file, measured), err);
    }
    if (plot != null) {
      kept &= new ReportFile("--plot", plot).write(new TrafficPlot(drawn)::save, err);
    }
    return kept;
  }
}
