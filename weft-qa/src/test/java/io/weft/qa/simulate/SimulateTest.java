// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SimulateTest {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  private int run(String... arguments) throws InterruptedException {
    return Simulate.run(List.of(arguments), new PrintStream(out, true, UTF_8));
  }

  @Test
  void faultsPrintALineForEachJobAndASummary() throws InterruptedException {
    assertThat(run("faults", "--runs", "2", "--seed", "5", "--each")).isZero();
    assertThat(out.toString(UTF_8).lines())
        .hasSize(3)
        .anyMatch(line -> line.startsWith("seed 5: "))
        .anyMatch(line -> line.startsWith("seed 6: "))
        .anyMatch(line -> line.startsWith("2 runs, seeds 5 to 6: 2 correct"));
  }

  @Test
  void membershipPrintsASummary() throws InterruptedException {
    assertThat(run("membership", "--runs", "20", "--seed", "3")).isZero();
    assertThat(out.toString(UTF_8)).startsWith("40 jobs, seeds 3 to 22: 40 correct, 0 wrong; ");
  }

  @Test
  void pushesPrintALineForEachNumberOfWorkersAndServers(@TempDir Path directory) throws Exception {
    Path json = directory.resolve("kv.jsonl");
    int code =
        run("kv", "--workers", "1,3", "--servers", "2", "--pairs", "100", "--json", "" + json);
    assertThat(code).isZero();
    assertThat(out.toString(UTF_8).lines()).hasSize(3);
    assertThat(Files.readAllLines(json))
        .hasSize(2)
        .allMatch(it -> it.contains("\"benchmark\":\"kv\"") && it.contains("\"servers\":2"))
        .anyMatch(it -> it.contains("\"workers\":3"));
  }

  @Test
  void stalenessPrintsASummary() throws InterruptedException {
    assertThat(run("staleness", "--runs", "2", "--seed", "9")).isZero();
    assertThat(out.toString(UTF_8)).startsWith("2 jobs, seeds 9 to 10: 2 correct, 0 wrong; ");
  }

  @Test
  void anInvalidListIsReported() throws InterruptedException {
    assertThat(run("kv", "--workers", "1;2")).isEqualTo(2);
    assertThat(out.toString(UTF_8)).startsWith("--workers must be a list of numbers, not '1;2'");
  }

  @Test
  void aWrongCommandLineIsReportedWithTheUsage() throws InterruptedException {
    assertThat(run("replay")).isEqualTo(2);
    assertThat(out.toString(UTF_8)).startsWith("replay needs a seed").contains("usage: ");
  }
}
