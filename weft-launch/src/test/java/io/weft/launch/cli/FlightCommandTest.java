// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class FlightCommandTest {

  private static final String NEVER =
      "rank 2 on node7 never submitted allreduce 'k' (use 1); its last was allreduce 'b' (use 1),"
          + " done 15.0 s before; rank 0 waited in it";

  @TempDir Path directory;

  private final TypedCommand weft = new TypedCommand();

  @Test
  void keptFlightFilesGiveTheReportAgain() throws Exception {
    Path kept =
        Path.of(Objects.requireNonNull(getClass().getResource("flights/rank-0.flight")).toURI())
            .getParent();
    Path json = directory.resolve("report.json");
    assertThat(weft.run("trace", "flight", kept.toString(), "--json", json.toString())).isZero();
    assertThat(weft.out().lines())
        .hasSize(3)
        .first()
        .isEqualTo(
            "cause: the communicator of ranks 0-2 failed 17.1 s into the job; first on rank 0: k"
                + " is late");
    assertThat(weft.out().lines().skip(1))
        .anyMatch(line -> line.startsWith("  rank 1 on node1 left no file that can be read ("))
        .contains("  " + NEVER);
    assertThat(weft.err()).contains("rank-1.flight: line 3: a field is missing");
    JsonNode report = JsonMapper.shared().readTree(Files.readString(json));
    assertThat(report.get("size").intValue()).isEqualTo(3);
    assertThat(report.get("findings").get(1).get("kind").stringValue())
        .isEqualTo("NEVER_SUBMITTED");
    assertThat(report.get("findings").get(1).get("ranks").get(0).intValue()).isEqualTo(2);
    assertThat(report.get("findings").get(1).get("words").stringValue()).isEqualTo(NEVER);
  }

  @Test
  void directoryWithoutFilesIsNamed() {
    assertThat(weft.run("trace", "flight", directory.toString())).isEqualTo(ExitCodes.MISSING);
    assertThat(weft.err()).contains(directory + " has no flight file");
    assertThat(weft.run("trace", "flight", "/nowhere")).isEqualTo(ExitCodes.WRONG_USAGE);
    assertThat(weft.err()).contains("cannot read /nowhere: no such file or directory\n");
  }

  @Test
  void flightFileThatIsNotTextIsReported() throws Exception {
    Files.write(directory.resolve("rank-0.flight"), new byte[] {(byte) 0xFF, (byte) 0xFE, 0});
    assertThat(weft.run("trace", "flight", directory.toString())).isEqualTo(ExitCodes.MISSING);
    assertThat(weft.err()).contains("rank-0.flight: it is not UTF-8 text\n");
  }

  @Test
  void traceWithoutASubcommandListsTheSubcommands() {
    assertThat(weft.run("trace")).isEqualTo(ExitCodes.WRONG_USAGE);
    assertThat(weft.err()).contains("which trace? flight, merge or report");
  }
}
