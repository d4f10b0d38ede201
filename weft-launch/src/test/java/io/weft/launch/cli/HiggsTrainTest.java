// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Checks a training on numbers of which each of two processes reads a part.
@Timeout(900)
class HiggsTrainTest {

  private static final int ROWS = 400;
  private static final int NUMBERS = 28;

  @TempDir private Path directory;

  @Test
  void twoProcessesTrainOnPartsOfOneFile() throws Exception {
    Files.writeString(directory.resolve("HIGGS.csv"), lines());
    JsonNode report =
        new RealTraining(directory)
            .run(
                "higgs-dnn",
                "higgs",
                2,
                "--batch-per-rank",
                "16",
                "--steps",
                "9",
                "--activation",
                "sigmoid",
                "--balance");
    assertThat(report.get("globalBatch").intValue()).isEqualTo(32);
    assertThat(report.get("steps").intValue()).isEqualTo(9);
    assertThat(report.get("elapsedSeconds").doubleValue()).isPositive();
    assertThat(report.get("cpuSeconds").doubleValue()).isPositive();
    assertThat(report.get("shares")).hasSize(2);
    assertThat(report.get("weightsDigest").get(0)).isEqualTo(report.get("weightsDigest").get(1));
  }

  private static String lines() {
    var random = new SplittableRandom(3);
    var text = new StringBuilder();
    for (int row = 0; row < ROWS; row++) {
      text.append(row % 2).append(".0");
      for (int column = 0; column < NUMBERS; column++) {
        text.append(String.format(Locale.ROOT, ",%.6e", random.nextGaussian()));
      }
      text.append('\n');
    }
    return text.toString();
  }
}
