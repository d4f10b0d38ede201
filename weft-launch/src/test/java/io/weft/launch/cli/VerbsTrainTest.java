// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Checks `weft train` with TensorFlow on an RDMA device, in processes as users start them. If the
/// device is in an emulated machine, unpacking TensorFlow takes minutes.
@Tag("rdma")
@Tag("lab") // minutes where the machine is emulated
@Timeout(900)
class VerbsTrainTest {

  @TempDir private Path directory;

  @Test
  void twoRanksLearnTheSameWeightsOverVerbsAsOverTcp() throws Exception {
    RealTraining training = RealTraining.in(directory);
    JsonNode verbs = train(training, "verbs");
    JsonNode tcp = train(training, "tcp");
    assertThat(verbs.get("transport").asString()).isEqualTo("verbs");
    assertThat(verbs.get("weightsDigest")).hasSize(2).isEqualTo(tcp.get("weightsDigest"));
  }

  private static JsonNode train(RealTraining training, String transport) throws Exception {
    return training.run(transport, 2, "--transport", transport, "--start-deadline", "300s");
  }
}
