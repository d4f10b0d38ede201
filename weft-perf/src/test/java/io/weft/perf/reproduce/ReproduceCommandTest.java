// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.cli.Subcommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(300)
class ReproduceCommandTest {

  @TempDir private Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private static CommandLine command() {
    return ServiceLoader.load(Subcommand.class).stream()
        .map(each -> each.get().commandLine())
        .filter(each -> each.getCommandName().equals("reproduce"))
        .findFirst()
        .orElseThrow();
  }

  private int run(String... words) {
    return command()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(words);
  }

  @Test
  void theUsageTeaches() {
    assertThat(command().getUsageMessage())
        .contains(
            "weft reproduce --quick --out figures",
            "--only HVD18.fig6,JIA17",
            "report.html",
            "docs/reproduce.md");
  }

  @Test
  void commandsOfAFullReproductionMayTakeHalfAnHour() {
    assertThat(limit("--full")).hasMinutes(30);
    assertThat(limit("--quick")).hasSeconds(75);
  }

  private Duration limit(String mode) {
    CommandLine command = command();
    command.parseArgs(mode, "--out", directory.toString());
    return ((ReproduceCommand) command.getCommand()).defaultLimit();
  }

  @Test
  void simulatedFiguresNeedNoCommand() throws Exception {
    String only = "HVD18.fig6,HVD18.fig3,HVD18.fig7,PSLITE.fig8b,PSLITE.4";
    assertThat(run("--out", directory.toString(), "--only", only)).as("%s", err).isZero();
    List<JsonNode> rows = rows();
    assertThat(rows).hasSize(9);
    assertThat(rows)
        .allSatisfy(
            row -> {
              assertThat(row.path("verdict").asString("")).isNotEmpty();
              assertThat(row.has("simulated") || row.has("measured") || row.has("note")).isTrue();
            });
    assertThat(out.toString()).contains("HVD18.fig6-resnet101", "9 figures: ", "report.html");
    assertThat(err.toString()).containsPattern("\\[1/9, \\d+ s\\] PSLITE.fig4: simulating");
    assertThat(Files.size(directory.resolve("report.html"))).isGreaterThan(20_000);
  }

  @Test
  void finishedRowsAreNotReproducedAgain() throws Exception {
    assertThat(run("--out", directory.toString(), "--only", "HVD18.fig3")).isZero();
    String before = Files.readString(directory.resolve("figures.jsonl"));
    assertThat(run("--out", directory.toString(), "--only", "HVD18.3")).isZero();
    assertThat(Files.readString(directory.resolve("figures.jsonl"))).isEqualTo(before);
    assertThat(out.toString()).contains("(finished before)");
    assertThat(err.toString()).containsOnlyOnce("simulating");
  }

  private List<JsonNode> rows() throws Exception {
    List<JsonNode> rows = new ArrayList<>();
    for (String line : Files.readAllLines(directory.resolve("figures.jsonl"))) {
      rows.add(new JsonMapper().readTree(line));
    }
    return rows;
  }

  @Test
  void wrongArgumentsAreNamedBeforeAnyMeasurement() throws Exception {
    assertThat(run()).isEqualTo(2);
    assertThat(err.toString()).contains("--out");
    assertThat(run("--out", directory.toString(), "--only", "JIA17.fig99")).isEqualTo(2);
    assertThat(err.toString()).contains("unknown figure 'JIA17.fig99'", "PSLITE.fig8a");
    assertThat(run("--out", directory.toString(), "--quick", "--full")).isEqualTo(2);
    assertThat(err.toString()).contains("--quick and --full: give one of them");
    assertThat(err.toString()).doesNotContain("simulating");
  }

  @Test
  void placesThatCannotBeWrittenAreNamedBeforeAnyMeasurement() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "x");
    assertThat(run("--out", file.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("--out: " + file + " is a file, not a directory");
    Path blocked = Files.createDirectories(directory.resolve("blocked"));
    Files.createDirectory(blocked.resolve("report.html"));
    assertThat(run("--out", blocked.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("cannot write " + blocked.resolve("report.html"));
    Path foreign = Files.createDirectories(directory.resolve("foreign"));
    Files.writeString(foreign.resolve("figures.jsonl"), "something else\n");
    assertThat(run("--out", foreign.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("is not a row of weft reproduce");
    assertThat(err.toString()).doesNotContain("simulating");
  }
}
