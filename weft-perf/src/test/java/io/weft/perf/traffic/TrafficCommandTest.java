// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.perf.process.PerfException;
import io.weft.perf.report.RankReport;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/// Checks `weft perf wide-deep-traffic` with little traffic.
final class TrafficCommandTest {

  private static final String SIMULATED =
      """
      {"benchmark":"wide-deep-traffic","peer":"weft","simulated":true,"requests":"fused",\
      "workers":10,"servers":2,"tensors":6,"bytes":8,"stepsPerSecond":100.0,\
      "meanStepMillis":10.0,"requestsPerStep":2.0,"messagesPerStep":4.0}
      """;

  @TempDir private Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... words) {
    CommandLine line = new CommandLine(new TrafficCommand());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(words);
  }

  @Test
  void everyTensorIsComparedAndEachProtocolIsMeasuredAndDrawn() throws Exception {
    Path simulated = Files.writeString(directory.resolve("simulated.jsonl"), SIMULATED);
    Path json = directory.resolve("figures.jsonl");
    Path plot = directory.resolve("curves.svg");
    List<String> words =
        new ArrayList<>(List.of("--workers", "3,1", "--servers", "2", "--tensors", "6"));
    words.addAll(List.of("--bytes", "8", "--compute", "500", "--rounds", "1"));
    words.addAll(List.of("--warm-up", "10", "--window", "1500"));
    words.addAll(List.of("--simulated", simulated.toString()));
    words.addAll(List.of("--json", json.toString(), "--plot", plot.toString()));
    assertThat(run(words.toArray(String[]::new))).as(err.toString()).isZero();
    assertThat(out.toString()).contains("2 servers, 6 x 8 B each way").contains("weft single");
    List<String> lines = Files.readAllLines(json);
    assertThat(lines)
        .hasSize(4)
        .allMatch(line -> line.contains("\"checked\":true"))
        .noneMatch(line -> line.contains("\"stepsPerSecond\":0.0"));
    assertThat(lines.get(0)).contains("\"peer\":\"weft\"", "\"workers\":1,");
    assertThat(lines.get(1))
        .contains("\"peer\":\"weft single\"", "\"workers\":1,", "\"requestsPerStep\":6.0");
    assertThat(lines.get(3)).contains("\"peer\":\"weft single\"", "\"workers\":3,");
    assertThat(Files.readString(plot, UTF_8)).contains("<svg");
  }

  @Test
  void anAblationHasAContestantForEachSubsetOfTheParts() {
    List<TrafficCommand.Part> all =
        IntStream.range(0, 16).mapToObj(TrafficCommand::without).toList();
    assertThat(all.getFirst()).isEqualTo(new TrafficCommand.Part("weft", Map.of()));
    assertThat(all.getLast().name()).isEqualTo("weft -fused -eager -lock-free -polling");
    assertThat(all.getLast().settings())
        .isEqualTo(
            Map.of(
                "WEFT_RENDEZVOUS_REQUESTS",
                "single",
                "WEFT_EAGER_BYTES",
                "8",
                "WEFT_RENDEZVOUS_QUEUE",
                "locked",
                "WEFT_SPIN",
                "0"));
    assertThat(all).doesNotHaveDuplicates();
  }

  @Test
  void simulatedFiguresAreDrawnAlone() throws Exception {
    Path simulated = Files.writeString(directory.resolve("simulated.jsonl"), SIMULATED);
    Path plot = directory.resolve("curves.png");
    assertThat(run("--rounds", "0", "--simulated", simulated.toString(), "--plot", plot.toString()))
        .as(err.toString())
        .isZero();
    assertThat(plot).isNotEmptyFile();
    assertThat(out.toString()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--servers 0           | --servers: 0 is out of range",
        "--tensors 5           | --tensors: 5 is out of range; allowed: 10 to 10000",
        "--bytes 6             | --bytes: 6 is not a multiple of 4",
        "--workers 0           | --workers: 0 is out of range",
        "--rounds 0            | --rounds: 0 measures nothing; give --simulated",
        "--transport inproc    | --transport: unknown transport 'inproc'; allowed: tcp, shm, verbs",
        "--peer openmpi        | --peer: unknown peer 'openmpi'; allowed: grpc",
        "--plot curves.gif     | --plot: curves.gif must end in .svg or .png",
        "--simulated nowhere   | --simulated: cannot read nowhere",
        "--simulated /dev/null --rounds 0 --window 0 | --window: 0 is out of range"
      })
  void wrongOptionsAreNamed(String words, String message) {
    assertThat(run(words.strip().split(" +"))).isEqualTo(2);
    assertThat(err.toString()).contains(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "peer weft;times 2 checked                  | did not end",
        "peer weft;done                             | 0 of 1 measurements",
        "peer weft;times 3 checked;done             | 0 of 1 measurements",
        "peer weft;times 2 checked;figure;done      | without a number",
        "peer weft;times 2 checked x;done           | not a measurement"
      })
  void reportsThatDoNotFitAreRefused(String lines, String message) {
    TrafficPlan plan =
        new TrafficPlan(1, 1, 4, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(1), List.of(2));
    assertThatThrownBy(() -> RankReport.parse(List.of(lines.strip().split(";")), plan.keys()))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessageContaining(message);
  }

  @Test
  void plansArePassedToProgramsAsWords() {
    TrafficPlan plan =
        new TrafficPlan(
            3,
            9,
            16,
            Duration.ofMillis(2),
            Duration.ofSeconds(1),
            Duration.ofSeconds(4),
            List.of(1, 7));
    assertThat(plan.words()).containsExactly("3", "9", "16", "2000", "1000", "4000", "1", "7");
    assertThat(TrafficPlan.parse(plan.words())).isEqualTo(plan);
    assertThat(plan.tensorsOf(2)).containsExactly(1, 4, 7);
  }
}
