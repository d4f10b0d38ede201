// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.experiment;

import io.weft.cluster.SecureMode;
import io.weft.launch.cli.Main;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.process.PerfException;
import io.weft.testkit.job.Networks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The ranks of a program on this host, or half of them in each of two network namespaces with a
/// link of limited speed between them.
///
/// @param ranks the ranks
/// @param transport their transport
/// @param secure the encryption of connections
/// @param gbit speed of the link in gigabits a second in each direction, null on one host
public record LinkedRanks(
    LocalRanks ranks, String transport, SecureMode secure, @Nullable Double gbit) {

  /// Throws `NullPointerException` if a component other than `gbit` is null.
  public LinkedRanks {
    Objects.requireNonNull(ranks, "ranks");
    Objects.requireNonNull(transport, "transport");
    Objects.requireNonNull(secure, "secure");
  }

  /// Throws `IllegalArgumentException` for an impossible option `--gbit`.
  public static void check(@Nullable Double gbit, String transport) {
    Objects.requireNonNull(transport, "transport");
    if (gbit != null && (!Double.isFinite(gbit) || gbit < 0.001 || gbit > 1000)) {
      throw new IllegalArgumentException("--gbit: " + gbit + "; allowed: 0.001 to 1000");
    }
    if (gbit != null && !transport.equals("tcp")) {
      throw new IllegalArgumentException(
          "--gbit: only tcp connects the two network namespaces, not " + transport);
    }
  }

  /// Runs one job in new processes, which all end. Returns the output of rank 0. Throws
  /// `PerfException.Failed`, or `PerfException.Missing` if network namespaces are unavailable.
  public List<String> run(List<String> words, Duration limit) throws InterruptedException {
    Objects.requireNonNull(words, "words");
    Objects.requireNonNull(limit, "limit");
    Double speed = gbit;
    return speed == null
        ? ranks.run(transport, secure, words, limit)
        : between(speed, words, limit);
  }

  private List<String> between(double speed, List<String> words, Duration limit)
      throws InterruptedException {
    try {
      Path directory = Files.createTempDirectory("weft-link-");
      try (Networks networks = networks(directory)) {
        networks.limit(String.format(Locale.ROOT, "%.0fkbit", speed * 1e6));
        return Contestant.output("Weft", command(networks, words), Map.of(), limit);
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

  private List<String> command(Networks networks, List<String> words) {
    int near = ranks.size() / 2;
    List<String> command = new ArrayList<>(networks.here());
    command.addAll(
        new JavaProgram(Main.class)
            .command(
                List.of(
                    "run",
                    "-H",
                    "localhost:" + near + "," + networks.far() + ":" + (ranks.size() - near),
                    "--ssh",
                    networks.ssh().toString(),
                    "--transport",
                    transport,
                    "--secure",
                    secure.toString(),
                    "--")));
    command.addAll(ranks.command(words));
    return command;
  }
}
