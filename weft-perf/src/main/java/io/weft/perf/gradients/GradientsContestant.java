// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.cluster.SecureMode;
import io.weft.launch.cli.Main;
import io.weft.perf.experiment.Contestant;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.RankReport;
import io.weft.testkit.job.Networks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Weft's ranks that replay a plan, in new processes for each round. They run on this host, or half
/// of them in each of two network namespaces with a link of limited speed between them.
///
/// @param plan the replayed plan
/// @param carrier number of ranks, transport and link
/// @param secure the encryption of connections
/// @param limit time limit of a round
public record GradientsContestant(
    GradientsPlan plan, GradientsFigures.Carrier carrier, SecureMode secure, Duration limit) {

  private static final long OVERHEAD_BYTES = 1L << 30;

  /// Runs one round in new processes, which all end. Throws `PerfException.Failed`, or
  /// `PerfException.Missing` if network namespaces are unavailable.
  public RankReport round() throws InterruptedException {
    Double gbit = carrier.gbit();
    return RankReport.parse(
        gbit == null
            ? ranks().run(carrier.transport(), secure, plan.words(), limit)
            : between(gbit));
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
    return Contestant.output("Weft", command, Map.of(), limit);
  }
}
