// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks `weft train` of rehearsed steps in separate processes, one of which is killed or stopped.
/// Servers are the first ranks. `LostTaskTest`, `ShrinkingTrainTest` and `StoppedRankTest` use real
/// training.
@Timeout(120)
class LostRankTest {

  @TempDir Path directory;
  private Process launcher;
  private BufferedReader reader;
  private final StringBuilder told = new StringBuilder();

  @BeforeEach
  void needsProc() {
    assumeTrue(Files.isReadable(Path.of("/proc/self/environ")), "needs /proc to find the rank");
  }

  private void train(String silenceLimit, String tasks) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("train", "steps"));
    arguments.addAll(List.of(tasks.split(" ")));
    // Only the harmed rank may be lost, even on a busy machine.
    arguments.addAll(List.of("--silence-limit", silenceLimit, "--heartbeat", "200ms"));
    arguments.addAll(List.of("--deadline", "60s", "--start-deadline", "60s"));
    ProcessBuilder builder = CommandProcess.of(arguments.toArray(String[]::new));
    launcher = builder.redirectOutput(directory.resolve("out").toFile()).start();
    reader = launcher.errorReader(StandardCharsets.UTF_8);
  }

  @AfterEach
  void end() {
    launcher.descendants().forEach(ProcessHandle::destroyForcibly);
    launcher.destroyForcibly();
  }

  /// Reads standard error until a line has all of these words.
  private void await(String... words) throws IOException {
    for (String line = reader.readLine(); line != null; line = reader.readLine()) {
      told.append(line).append('\n');
      if (List.of(words).stream().allMatch(line::contains)) {
        return;
      }
    }
    throw new AssertionError("no line has " + List.of(words) + ":\n" + told);
  }

  private void kill(int rank) throws IOException {
    assertThat(CommandProcess.rank(launcher, rank).destroyForcibly()).isTrue(); // kill -9
  }

  /// Waits until the command has ended by itself and returns its exit code.
  private int code() throws Exception {
    for (String line = reader.readLine(); line != null; line = reader.readLine()) {
      told.append(line).append('\n');
    }
    assertThat(launcher.waitFor(20, TimeUnit.SECONDS)).as("ended").isTrue();
    return launcher.exitValue();
  }

  @Test
  void shrinkingJobContinuesWithoutTheKilledRank() throws Exception {
    train("60s", "-np 3 --on-failure shrink");
    await("step ");
    kill(2);
    assertThat(code()).as(told.toString()).isZero();
    assertThat(told)
        .contains("going on with 2 ranks after step ")
        .contains("rank 2 on localhost was lost (killed by SIGKILL")
        .contains("the job is done, without rank 2 on localhost");
    assertThat(directory.resolve("out")).content().contains("trained on 2 ranks");
  }

  @Test
  void asynchronousWorkersContinueWithoutTheKilledWorker() throws Exception {
    train("60s", "--workers 2 --servers 1");
    await("step ");
    kill(2);
    assertThat(code()).as(told.toString()).isZero();
    assertThat(told)
        .contains("rank 2 on localhost was lost (killed by SIGKILL")
        .contains("the job goes on with 2 ranks")
        .contains("the job is done, without rank 2 on localhost");
    assertThat(directory.resolve("out")).content().startsWith("trained as one of 2 workers");
  }

  @Test
  void killedServerFailsTheJobThatHasAlreadyLostAWorker() throws Exception {
    train("60s", "--workers 2 --servers 2");
    await("step ");
    kill(2);
    await("the job goes on with 3 ranks");
    kill(1);
    assertThat(code()).as(told.toString()).isEqualTo(1);
    assertThat(told)
        .contains("the job failed: rank 1 on localhost: killed by SIGKILL")
        .doesNotContain("the job is done");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2})
  void killedRankFailsTheJobOfSynchronousWorkers(int rank) throws Exception {
    train("60s", "--workers 2 --servers 1 --sync gradients");
    await("step ");
    kill(rank);
    await("step failed: ", "rank " + rank + " on ", " is lost: ");
    assertThat(code()).as(told.toString()).isEqualTo(1);
    assertThat(told).contains("the job failed: rank " + rank + " on localhost: killed by SIGKILL");
  }

  @Test
  void jobEndsWhenNoRankCanContinueWithoutTheStoppedOne() throws Exception {
    endsWithoutRankZero("--workers 2 --servers 1");
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"-np 2 --on-failure shrink", "--workers 2 --servers 1 --sync gradients"})
  void jobsOfOtherTasksEndWithoutTheStoppedRank(String tasks) throws Exception {
    endsWithoutRankZero(tasks);
  }

  private void endsWithoutRankZero(String tasks) throws Exception {
    train("4s", tasks);
    await("step ");
    List<ProcessHandle> all = launcher.descendants().toList();
    long pid = CommandProcess.rank(launcher, 0).pid();
    assertThat(new ProcessBuilder("kill", "-STOP", "" + pid).start().waitFor()).isZero();
    assertThat(code()).as(told.toString()).isEqualTo(1);
    assertThat(told).contains("the job failed: ", "rank 0 on localhost", "stopped");
    assertThat(told.toString()).doesNotContain("goes on with 1 rank", "the job is done");
    assertThat(all).isNotEmpty().noneMatch(ProcessHandle::isAlive);
  }
}
