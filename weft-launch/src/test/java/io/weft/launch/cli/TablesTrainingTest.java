// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/// Checks `weft train --via ps` with two servers and two workers in separate processes. `wide-deep`
/// is compared with one process that has everything, `mnist-dnn` with the allreduce of two ranks.
@Tag("long")
@Timeout(600)
class TablesTrainingTest {

  private static final long LIMIT_SECONDS = 240;
  private static final String[] TASKS = {"--via", "ps", "--workers", "2", "--servers", "2"};

  @TempDir private Path directory;

  @Test
  void workersWithTablesReachTheAucOfOneProcess() throws Exception {
    double alone = train("wide-deep", "-np", "1").get("testAuc").asDouble();
    JsonNode free = train("wide-deep", TASKS);
    assertThat(free.get("testAuc").asDouble()).isCloseTo(alone, within(0.005));
    assertThat(free.get("mode").asString()).isEqualTo("async");
    JsonNode together = train("wide-deep", with(TASKS, "--staleness", "0", "--dense", "allreduce"));
    assertThat(together.get("testAuc").asDouble()).isCloseTo(alone, within(0.005));
    JsonNode digests = together.get("weightsDigest");
    assertThat(digests.size()).isEqualTo(2);
    assertThat(digests.get(1)).isEqualTo(digests.get(0));
    // Each step of a worker makes one push to each of two tables.
    assertThat(together.get("pushes").asInt()).isEqualTo(2 * 2 * (24_000 / 128));
    assertThat(together.get("workers").asInt()).isEqualTo(2);
    assertThat(together.get("servers").asInt()).isEqualTo(2);
  }

  @Test
  void synchronousWorkersHaveTheSameBitsAsAllreduce() throws Exception {
    JsonNode together = train("mnist-dnn", "-np", "2");
    JsonNode served = train("mnist-dnn", with(TASKS, "--staleness", "0"));
    assertThat(served.get("weightsDigest").get(0)).isEqualTo(together.get("weightsDigest").get(0));
    assertThat(served.get("finalLoss")).isEqualTo(together.get("finalLoss"));
    assertThat(served.get("staleness").get("max").asInt()).isZero();
  }

  private JsonNode train(String workload, String... options) throws Exception {
    Path report = directory.resolve("report.json");
    Path output = directory.resolve("output.txt");
    String[] training = {
      "train", workload, "--epochs", "1", "--json", report.toString(), "--transport", "shm"
    };
    ProcessBuilder builder = CommandProcess.of(with(training, options));
    builder.environment().put(RehearsedTraining.REAL, "1");
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      assertThat(ended && process.exitValue() == 0)
          .as("ended %s: %s", ended, Files.readString(output))
          .isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    return new ObjectMapper().readTree(Files.readString(report));
  }

  private static String[] with(String[] some, String... more) {
    List<String> all = new ArrayList<>(List.of(some));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }
}
