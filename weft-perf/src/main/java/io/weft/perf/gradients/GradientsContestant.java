// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.cluster.SecureMode;
import io.weft.launch.cli.Main;
import io.weft.perf.process.Child;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import io.weft.testkit.job.Networks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/// Weft's ranks that replay a plan, in new processes for each round. They run on this host, or half
/// of them in each of two network namespaces with a link of limited speed between them.
///
/// @param plan the replayed plan
/// @param carrier number of ranks, transport and link
/// @param secure the encryption of connections
/// @param limit time limit of a round
public record GradientsContestant(
    GradientsPlan plan, GradientsFigure.Carrier carrier, SecureMode secure, Duration limit) {

  private static final long OVERHEAD_BYTES = 1L << 30;

  /// Runs one round in new processes, which all end. Throws `PerfException.Failed`, or
  /// `PerfException.Missing` if network namespaces are unavailable.
  GradientsReport round() throws InterruptedException {
    Double gbit = carrier.gbit();
    return GradientsReport.parse(gbit == null ? here() : between(gbit));
  }

  /// Measures the cost of recording in `rounds` rounds. Throws the exceptions of `round`.
  ///
  /// @param progress receives a line before each round
  public RecordingFigure record(int rounds, Consumer<String> progress) throws InterruptedException {
    BenchmarkHost host = BenchmarkHost.here();
    List<GradientsReport> reports = new ArrayList<>();
    for (int round = 1; round <= rounds; round++) {
      progress.accept("round %d of %d".formatted(round, rounds));
      reports.add(round());
    }
    return RecordingFigure.of(plan, carrier, reports, host);
  }

  /// Runs an autotuner and returns its result and its log. Throws the exceptions of `round`.
  public TunedRun tune() throws InterruptedException {
    BenchmarkHost host = BenchmarkHost.here();
    Double gbit = carrier.gbit();
    List<String> lines = gbit == null ? here() : between(gbit);
    return new TunedRun(
        TuningFigure.parse(plan.model(), carrier, lines, host), TuningFigure.log(lines));
  }

  /// A search and its samples.
  ///
  /// @param figure the result
  /// @param log lines of CSV after a header
  public record TunedRun(TuningFigure figure, List<String> log) {

    /// Copies the list.
    public TunedRun {
      log = List.copyOf(log);
    }
  }

  private List<String> here() throws InterruptedException {
    return ranks().run(carrier.transport(), secure, plan.words(), limit);
  }

  private LocalRanks ranks() {
    long direct = OVERHEAD_BYTES + 3 * plan.gradients().bytes();
    return new LocalRanks(GradientsRank.class, carrier.ranks(), direct);
  }

  private List<String> between(double gbit) throws InterruptedException {
    try {
      Path directory = Files.createTempDirectory("weft-gradients-");
      try (Networks networks = networks(directory)) {
        networks.limit(String.format(Locale.ROOT, "%.0fkbit", gbit * 1e6));
        return run(networks);
      } finally {
        Files.deleteIfExists(directory.resolve("ssh"));
        Files.deleteIfExists(directory);
      }
    } catch (IOException refused) {
      throw new PerfException.Failed("--gbit: " + refused.getMessage(), refused);
    }
  }

  private static Networks networks(Path directory) throws InterruptedException {
    try {
      return Networks.create(directory);
    } catch (IOException refused) {
      throw new PerfException.Missing(
          "--gbit needs two network namespaces, which require root and the programs ip and tc"
              + " (apt-get install iproute2): "
              + refused.getMessage());
    }
  }

  private List<String> run(Networks networks) throws InterruptedException {
    int near = carrier.ranks() / 2;
    List<String> command = new ArrayList<>(networks.here());
    command.addAll(
        new JavaProgram(Main.class)
            .command(
                List.of(
                    "run",
                    "-H",
                    "localhost:" + near + "," + networks.far() + ":" + (carrier.ranks() - near),
                    "--ssh",
                    networks.ssh().toString(),
                    "--transport",
                    carrier.transport(),
                    "--secure",
                    secure.toString(),
                    "--")));
    command.addAll(ranks().command(plan.words()));
    Child.ChildOutput outcome = Child.run(command, limit);
    if (outcome.exit() != 0) {
      throw new PerfException.Failed("Weft's ranks failed:%n%s".formatted(outcome.lastWords()));
    }
    return outcome.out().stream().map(GradientsContestant::withoutRank).toList();
  }

  /// Removes the prefix that `weft run` prints before a line of rank 0.
  private static String withoutRank(String line) {
    return line.startsWith("[0] ") ? line.substring(4) : line;
  }
}
