// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
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
