// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that the launcher ends real trainings whose rank 0 is stopped, because the other ranks
/// cannot continue without it.
@Tag("long")
class StoppedRankTest {

  @ParameterizedTest
  @Timeout(240)
  @ValueSource(
      strings = {
        "-np 2 --on-failure shrink",
        "--via weft --workers 2 --servers 1",
        "--via weft --workers 2 --servers 1 --sync gradients"
      })
  void jobEndsWhenNoRankCanContinueWithoutTheStoppedOne(String how) throws Exception {
    assumeTrue(Files.isReadable(Path.of("/proc/self/environ")), "needs /proc to find the rank");
    var arguments = new ArrayList<>(List.of("train", "adult-dnn", "--epochs", "100000"));
    arguments.addAll(List.of(how.split(" ")));
    // Only the stopped rank may be lost, even on a busy machine.
    arguments.addAll(List.of("--silence-limit", "12s", "--deadline", "60s"));
    ProcessBuilder builder = CommandProcess.of(arguments.toArray(String[]::new));
    builder.environment().put(RehearsedTraining.REAL, "1");
    Process launcher = builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    var err = new StringBuilder();
    List<ProcessHandle> all = new ArrayList<>();
    try (BufferedReader reader = launcher.errorReader(StandardCharsets.UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        err.append(line).append('\n');
        if (all.isEmpty() && line.contains("epoch 1/100000 ")) {
          all.addAll(launcher.descendants().toList());
          long pid = CommandProcess.rank(launcher, 0).pid();
          assertThat(new ProcessBuilder("kill", "-STOP", "" + pid).start().waitFor()).isZero();
        }
      }
      assertThat(launcher.waitFor(20, TimeUnit.SECONDS)).isTrue();
    } finally {
      launcher.descendants().forEach(ProcessHandle::destroyForcibly);
      launcher.destroyForcibly();
    }
    assertThat(launcher.exitValue()).as(err.toString()).isEqualTo(1);
    assertThat(err).contains("the job failed: ", "rank 0 on localhost", "stopped");
    assertThat(err).doesNotContain("goes on with 1 rank", "the job is done");
    assertThat(all).isNotEmpty().noneMatch(ProcessHandle::isAlive);
  }
}
