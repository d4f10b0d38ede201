// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Checks trainings with DJL and PyTorch.
@Timeout(300)
class DjlTrainTest {

  @TempDir private Path directory;

  @Test
  void twoRanksLearnEqualWeightsByAllreduce() throws Exception {
    JsonNode report =
        RealTraining.in(directory).run("allreduce", 2, "--engine", "djl", "--batch", "32");
    assertThat(report.get("engine").stringValue()).isEqualTo("djl");
    assertThat(report.get("steps").intValue()).isEqualTo(8);
    assertThat(report.get("finalLoss").doubleValue()).isPositive();
    assertThat(report.get("weightsDigest")).hasSize(2);
    assertThat(report.get("weightsDigest").get(0)).isEqualTo(report.get("weightsDigest").get(1));
    assertThat(report.get("communicationSeconds").doubleValue()).isPositive();
  }

  @Test
  void twoRanksLearnALanguage() throws Exception {
    JsonNode report = language("gradients", 2, "--batch", "4");
    assertThat(report.get("engine").stringValue()).isEqualTo("djl");
    assertThat(report.get("sample").stringValue()).isNotEmpty();
    assertThat(report.get("finalLoss").doubleValue()).isLessThan(Math.log(128));
    JsonNode alone = language("alone", 1, "--batch", "2", "--accumulate", "2", "--clip", "1000");
    assertThat(alone.get("globalBatch").intValue()).isEqualTo(4);
    assertThat(alone.get("finalLoss").doubleValue())
        .isCloseTo(report.get("finalLoss").doubleValue(), within(1e-3));
    assertThat(report.get("weightsDigest").get(0)).isEqualTo(report.get("weightsDigest").get(1));
  }

  @Test
  void ranksOfLocalSgdEndWithEqualWeightsAndSendLess() throws Exception {
    JsonNode each = language("each", 2, "--batch", "4");
    JsonNode local = language("local", 2, "--batch", "4", "--sync", "local:4");
    assertThat(local.get("outerSteps").intValue()).isEqualTo(2);
    assertThat(local.get("weightsDigest").get(0)).isEqualTo(local.get("weightsDigest").get(1));
    assertThat(3 * local.get("bytesSent").longValue())
        .isLessThan(each.get("bytesSent").longValue());
  }

  private JsonNode language(String name, int ranks, String... options) throws Exception {
    Path text = Files.writeString(directory.resolve("text"), "All ranks train.\n".repeat(40));
    List<String> all = new ArrayList<>(List.of("--steps", "8", "--context", "16"));
    all.addAll(List.of(options));
    return new RealTraining(directory)
        .run(text, "tiny-gpt", name, ranks, all.toArray(String[]::new));
  }

  @Test
  void twoWorkersLearnByAParameterServer() throws Exception {
    JsonNode report =
        RealTraining.in(directory)
            .run(
                "ps",
                3,
                "--engine",
                "djl",
                "--batch",
                "32",
                "--via",
                "ps",
                "--workers",
                "2",
                "--servers",
                "1",
                "--staleness",
                "0");
    assertThat(report.get("engine").stringValue()).isEqualTo("djl");
    assertThat(report.get("pushes").longValue()).isPositive();
    assertThat(report.get("finalLoss").doubleValue()).isPositive();
  }
}
