// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.weft.perf.report.Figure;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Timeout(180)
class KvCommandTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... words) {
    return new CommandLine(new KvCommand())
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(words);
  }

  @Test
  void pushesOfAllWorkersAreCheckedAndReported(@TempDir Path directory) throws Exception {
    Path json = directory.resolve("kv.json");
    int code =
        run(
            "--pairs",
            "1000",
            "--workers",
            "2",
            "--window",
            "4",
            "--requests",
            "40",
            "--json",
            json.toString());
    assertThat(code).as(err.toString()).isZero();
    List<String> lines = Files.readAllLines(json);
    assertThat(lines).hasSize(3);
    assertThat(lines.getFirst())
        .contains(
            "\"benchmark\":\"kv\"", "\"peer\":\"weft\"", "\"pairs\":1000", "\"checked\":true");
    assertThat(lines.get(1)).contains("\"peer\":\"memcpy\"").doesNotContain("checked");
    assertThat(lines.get(2)).contains("\"peer\":\"loopback\"").doesNotContain("checked");
    assertThat(out.toString()).contains("checked");
  }

  @ParameterizedTest
  @CsvSource({"push", "pull", "pushpull"})
  void aSingleTensorIsChecked(String op) {
    int code = run("--value", "100K", "--op", op, "--requests", "20", "--transport", "shm");
    assertThat(code).as(err.toString()).isZero();
    assertThat(out.toString()).contains("weft ", " 102400 B", "checked", "memcpy");
  }

  @ParameterizedTest
  @CsvSource({"update", "lookup"})
  void rowsOfASparseTableAreChecked(String op) {
    String[] words = {
      "--rows",
      "2000",
      "--pairs",
      "300",
      "--dim",
      "4",
      "--op",
      op,
      "--requests",
      "70",
      "--workers",
      "2",
      "--servers",
      "2"
    };
    assertThat(run(words)).as(err.toString()).isZero();
    assertThat(out.toString()).contains("2+2", "300 pairs", "checked");
  }

  @Test
  void eachNumberOfWorkersIsMeasuredAndDrawnForEachTransport(@TempDir Path directory)
      throws Exception {
    Path json = directory.resolve("kv.json");
    Path plot = directory.resolve("kv.svg");
    int code =
        run(
            "--pairs",
            "1000",
            "--workers",
            "3,1",
            "--window",
            "4",
            "--transport",
            "tcp,shm",
            "--requests",
            "30",
            "--json",
            json.toString(),
            "--plot",
            plot.toString());
    assertThat(code).as(err.toString()).isZero();
    List<String> lines =
        Files.readAllLines(json).stream().filter(it -> it.contains("\"weft\"")).toList();
    assertThat(lines)
        .hasSize(4)
        .allMatch(it -> it.contains("\"clients\":\"threads\"") && it.contains("\"checked\":true"));
    assertThat(lines.get(1)).contains("\"tcp\"", "\"workers\":3", "\"window\":4");
    assertThat(err.toString()).contains("4 of 4: push over shm, window 4, workers: 3");
    assertThat(out.toString()).containsPattern("push weft over shm, window 4: \\d+ requests/s");
    assertThat(plot).content().contains("<svg");
  }

  @Test
  void eachNumberOfServerThreadsIsMeasured(@TempDir Path directory) throws Exception {
    Path json = directory.resolve("kv.jsonl");
    int code =
        run("--pairs", "500", "--requests", "20", "--server-threads", "2,1", "--json", "" + json);
    assertThat(code).as(err.toString()).isZero();
    assertThat(Files.readAllLines(json).stream().filter(it -> it.contains("\"weft\"")))
        .satisfiesExactly(
            it -> assertThat(it).contains("\"serverThreads\":1", "\"checked\":true"),
            it -> assertThat(it).contains("\"serverThreads\":2", "\"checked\":true"));
    assertThat(out.toString()).contains("1+1 ", "1+1x2 ");
    assertThat(run("--pairs", "500", "--server-threads", "17")).isEqualTo(2);
    assertThat(err.toString()).contains("--server-threads", "1 to 16");
  }

  @Test
  void memcpyAndLoopbackAreListedOnceForAnyOrderOfTransports() {
    int code = run("--value", "64", "--requests", "20", "--transport", "shm,tcp");
    assertThat(code).as(err.toString()).isZero();
    assertThat(out.toString().lines().map(it -> it.substring(0, it.indexOf(' '))))
        .containsExactlyInAnyOrder("weft", "weft", "memcpy", "loopback");
  }

  @Test
  void simulatedFiguresAreDrawn(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("simulated.jsonl");
    Path plot = directory.resolve("kv.png");
    Files.writeString(
        file,
        "{\"benchmark\":\"kv\",\"simulated\":true,\"workers\":1000,\"servers\":50,\"window\":1,"
            + "\"pairs\":10,\"requestsPerSecond\":5.5,\"meanMicros\":7}\n");
    assertThat(Figure.simulated(file, "kv", "kv"))
        .singleElement()
        .satisfies(
            it -> {
              assertThat(KvFigures.curve(it))
                  .isEqualTo("simulated, servers: 50, window 1, 10 keys");
              assertThat(it.number("workers")).isEqualTo(1000);
              assertThat(it.number("requestsPerSecond")).isEqualTo(5.5);
              assertThat(it.number("meanMicros")).isEqualTo(7);
            });
    assertThat(run("--rounds", "0", "--simulated", "" + file, "--plot", "" + plot)).isZero();
    assertThat(plot).isNotEmptyFile();
    Files.writeString(file, "{\"benchmark\":\"kv\"}\n");
    assertThat(run("--rounds", "0", "--simulated", "" + file, "--plot", "" + plot)).isEqualTo(2);
    assertThat(err.toString()).contains("not from tools/simulate kv");
  }

  @Test
  void eachWindowIsMeasured() {
    int code = run("--value", "64", "--requests", "20", "--transport", "shm", "--window", "1,3");
    assertThat(code).as(err.toString()).isZero();
    assertThat(out.toString().lines().filter(it -> it.contains("checked")))
        .hasSize(2)
        .anyMatch(it -> it.contains("window   1"))
        .anyMatch(it -> it.contains("window   3"));
  }

  @Test
  void requestsWhoseSumIsNotExactAreRefused() {
    assertThat(run("--requests", "900000", "--workers", "1,2")).isEqualTo(2);
    assertThat(err.toString()).contains("--requests: 900000 of 1 workers", "16777216");
  }

  @ParameterizedTest
  @CsvSource({"update", "lookup"})
  void rowsOnDiskAreChecked(String op) {
    String[] words = {
      "--rows",
      "20000",
      "--pairs",
      "300",
      "--dim",
      "4",
      "--op",
      op,
      "--requests",
      "70",
      "--spill-beyond",
      "64K"
    };
    assertThat(run(words)).as(err.toString()).isZero();
    assertThat(out.toString()).contains("1+1", "300 pairs", "checked");
  }

  @Test
  void aPeerThatIsNotBuiltIsReportedAsMissing() {
    assumeThat(Path.of("../weft-peers/target/classpath")).doesNotExist();
    assertThat(run("--pairs", "10", "--requests", "1", "--peer", "hazelcast")).isEqualTo(3);
    assertThat(err.toString()).contains("hazelcast is not built", "-pl weft-peers");
  }

  @ParameterizedTest
  @CsvSource({
    "--dim,4,it applies only to --pairs and --rows",
    "--zipf,1,it applies only to --rows"
  })
  void anOptionWithoutEffectOnATensorIsRefused(String option, String value, String message) {
    assertThat(run("--value", "64", option, value)).isEqualTo(2);
    assertThat(err.toString()).contains(option).contains(message);
  }

  @Test
  void oneFileForTwoOptionsIsRefused() {
    assertThat(run("--json", "kv.svg", "--plot", "./kv.svg")).isEqualTo(2);
    assertThat(err.toString()).contains("--json and --plot: both are kv.svg");
  }

  @ParameterizedTest
  @CsvSource({
    "--pairs,0,out of range",
    "--op,shove,'allowed: push, pull, pushpull, lookup, update'",
    "--op,lookup,require --rows",
    "--spill-beyond,1M,it applies only to --rows",
    "--zipf,1.2,it applies only to --rows",
    "--value,6,32-bit floats",
    "--peer,redis,'allowed: hazelcast, flight-rocksdb, ps-lite'",
    "--peer,ps-lite,'by --ps-lite'",
    "--ps-lite,/bin/true,for --peer ps-lite",
    "--dim,2000000,out of range",
    "--workers,'1,0',out of range",
    "--workers,'1,two',not an int",
    "--transport,'tcp,udp',unknown transport",
    "--plot,kv.pdf,must end in",
    "--rounds,0,out of range",
    "--simulated,kv.jsonl,give --plot",
    "--plot,/no/such/directory/kv.png,cannot write"
  })
  void wrongOptionsAreNamed(String option, String value, String message) {
    assertThat(run(option, value)).isEqualTo(2);
    assertThat(err.toString()).contains(option).contains(message);
  }
}
