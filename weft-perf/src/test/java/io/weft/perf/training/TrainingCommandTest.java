// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.training;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(300)
class TrainingCommandTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... words) {
    return new CommandLine(new TrainingCommand())
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(words);
  }

  @Test
  void optionsOutOfRangeAreNamed() {
    assertThat(run("--workload", "mnist-dnn", "-np", "1")).isEqualTo(2);
    assertThat(run("--workload", "mnist-dnn", "--seconds", "5")).isEqualTo(2);
    assertThat(run("--workload", "mnist-dnn", "--batch-per-rank", "0")).isEqualTo(2);
    assertThat(run()).isEqualTo(2);
    assertThat(err.toString()).contains("-np: 1", "--seconds: 5.0", "--batch-per-rank: 0");
  }

  @Test
  void theTrainingProgramNamesAnUnknownWorkload() {
    assertThat(run("--workload", "mnist-rnn", "--rounds", "1")).isEqualTo(1);
    assertThat(err.toString()).contains("no workload 'mnist-rnn'");
  }

  @Test
  void theEngineIsPassedOn() {
    assertThat(run("--workload", "adult-dnn", "--engine", "djl", "--rounds", "1")).isEqualTo(1);
    assertThat(err.toString()).contains("--engine djl: expected mnist-dnn");
  }

  @Test
  @Tag("long")
  void severalRanksAreComparedWithOneRank(@TempDir Path directory) throws Exception {
    Path json = directory.resolve("figures.jsonl");
    int code =
        run(
            "--workload",
            "adult-dnn",
            "--batch-per-rank",
            "64",
            "--seconds",
            "8",
            "--rounds",
            "1",
            "--json",
            json.toString());
    assertThat(code).as("%s", err).isZero();
    JsonNode figure = new JsonMapper().readTree(Files.readString(json));
    assertThat(figure.path("benchmark").asString()).isEqualTo("training");
    assertThat(figure.path("ranks").asInt()).isEqualTo(2);
    assertThat(figure.path("efficiency").asDouble()).isPositive();
    assertThat(figure.path("budget").path("aloneMicros").asDouble()).isPositive();
    assertThat(out.toString()).startsWith("adult-dnn, 64 a rank, rounds: 1");
  }
}
