// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks a real training of real processes, one of which is killed.
@Tag("long")
class ShrinkingTrainTest {

  @TempDir Path directory;

  @Test
  @Timeout(240)
  void trainingContinuesWithoutTheKilledRank() throws Exception {
    assumeTrue(Files.isReadable(Path.of("/proc/self/environ")), "needs /proc to find the rank");
    ProcessBuilder builder =
        CommandProcess.of(
            "train",
            "mnist-dnn",
            "-np",
            "3",
            "--on-failure",
            "shrink",
            "--epochs",
            "1",
            // Only the killed rank may be lost, even on a busy machine.
            "--silence-limit",
            "60s",
            "--deadline",
            "120s",
            "--start-deadline",
            "120s");
    builder.environment().put(RehearsedTraining.REAL, "1");
    Process launcher = builder.redirectOutput(directory.resolve("out").toFile()).start();
    var err = new ArrayList<String>();
    try (BufferedReader reader = launcher.errorReader(StandardCharsets.UTF_8)) {
      boolean killed = false;
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        err.add(line);
        if (!killed && line.contains("epoch 1/1 ")) {
          killed = CommandProcess.rank(launcher, 2).destroyForcibly();
        }
      }
      assertThat(launcher.waitFor(20, TimeUnit.SECONDS)).isTrue();
    } finally {
      launcher.descendants().forEach(ProcessHandle::destroyForcibly);
      launcher.destroyForcibly();
    }
    String told = String.join("\n", err);
    assertThat(launcher.exitValue()).as(told).isZero();
    assertThat(told)
        .contains("lost rank 2; going on with 2 ranks after step")
        .contains("rank 2 on localhost was lost (killed by SIGKILL")
        .contains("the job is done, without rank 2 on localhost");
    assertThat(directory.resolve("out"))
        .content()
        .startsWith("mnist-dnn on 2 ranks over ")
        .contains("the same on all ranks")
        .contains("lost           rank 2 after step");
  }
}
