// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.hosts;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.cli.Main;
import io.weft.testkit.job.JvmCommand;
import io.weft.testkit.job.Networks;
import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks sums of ranks on two hosts. The hosts are two network namespaces of this machine, which
/// are connected by one link.
@Needs(OptionalProgram.NETWORKS)
class TwoHostsTest {

  private static final int LIMIT_SECONDS = 150;

  @TempDir private Path directory;

  @ParameterizedTest(name = "{0} and {1} ranks over {2}, at {3}")
  @Timeout(240)
  @CsvSource("2, 1, shm, full speed") // within a host; between the hosts it falls back to TCP
  void ranksSumAcrossHosts(int here, int there, String transport, String speed) throws Exception {
    sum(here, there, transport, speed);
  }

  @Tag("long")
  @ParameterizedTest(name = "{0} and {1} ranks over {2}, at {3}")
  @Timeout(240)
  @CsvSource({"2, 2, tcp, full speed", "2, 2, shm, 200mbit"})
  void ranksSumOverTcpAndOverASlowLink(int here, int there, String transport, String speed)
      throws Exception {
    sum(here, there, transport, speed);
  }

  private void sum(int here, int there, String transport, String speed) throws Exception {
    try (Networks networks = Networks.create(directory)) {
      if (!speed.equals("full speed")) {
        networks.limit(speed);
      }
      var command = new ArrayList<>(networks.here());
      command.addAll(
          JvmCommand.of(
              Main.class,
              "run",
              "-H",
              "localhost:" + here + "," + networks.far() + ":" + there,
              "--ssh",
              networks.ssh().toString(),
              "--transport",
              transport,
              "--"));
      command.addAll(rank());
      Path out = directory.resolve("out");
      Path err = directory.resolve("err");
      Process job =
          new ProcessBuilder(command)
              .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start();
      boolean ended = job.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      job.destroy();
      assertThat(ended).as(Files.readString(err)).isTrue();
      assertThat(job.exitValue()).as(Files.readString(err)).isZero();
      assertThat(Files.readAllLines(out))
          .hasSize(here + there)
          .allMatch(line -> line.endsWith("of 2 hosts: 0 wrong"))
          .anyMatch(line -> line.contains("local rank 1 of " + here));
    }
  }

  private static List<String> rank() {
    return JvmCommand.of(
        List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
        CrossingRank.class,
        "1",
        "3000",
        "70000",
        "400000");
  }
}
