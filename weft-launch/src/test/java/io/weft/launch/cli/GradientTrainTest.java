// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Checks the combination of gradients in trainings of several processes.
@Timeout(900)
class GradientTrainTest {

  @TempDir private Path directory;

  @Tag("long")
  @Test
  void eightBitGradientsOfTwoProcessesTakeAQuarterOfTheBytes() throws Exception {
    RealTraining training = RealTraining.in(directory);
    JsonNode plain = training.run("plain", 2, "--transport", "tcp");
    JsonNode int8 = training.run("int8", 2, "--transport", "tcp", "--compression", "int8");
    assertThat(int8.get("weightsDigest").get(0)).isEqualTo(int8.get("weightsDigest").get(1));
    assertThat(int8.get("bytesPerStep").doubleValue())
        .isBetween(
            0.2 * plain.get("bytesPerStep").doubleValue(),
            0.3 * plain.get("bytesPerStep").doubleValue());
  }

  @Test
  void shardsGiveOneAndTwoProcessesTheSameWeights() throws Exception {
    assertSameWeights(List.of(1, 2), List.of("tcp"));
  }

  @Tag("long")
  @Test
  void shardsGiveOneTwoAndFourProcessesTheSameWeights() throws Exception {
    assertSameWeights(List.of(1, 2, 4), List.of("tcp", "auto"));
  }

  private void assertSameWeights(List<Integer> sizes, List<String> transports) throws Exception {
    RealTraining training = RealTraining.in(directory);
    var digests = new HashSet<String>();
    for (int ranks : sizes) {
      for (String transport : transports) {
        JsonNode report =
            training.run(
                transport + ranks, ranks, "--reproducible=shards:4", "--transport", transport);
        assertThat(report.get("weightsDigest")).hasSize(ranks);
        report.get("weightsDigest").forEach(digest -> digests.add(digest.asString()));
      }
    }
    assertThat(digests).hasSize(1);
  }
}
