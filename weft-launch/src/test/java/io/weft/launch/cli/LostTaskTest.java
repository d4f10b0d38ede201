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

/// Checks real trainings with parameter servers in real processes, one of which is killed. Servers
/// are the first ranks.
@Tag("long")
@Timeout(240)
class LostTaskTest {

  /// Half of the silence limit. A step that needs a lost server fails because the server's
  /// connections break, long before the silence limit expires.
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);

  @TempDir Path directory;
  private Process launcher;
  private BufferedReader reader;
  private final StringBuilder told = new StringBuilder();

  @BeforeEach
  void needsProc() {
    assumeTrue(Files.isReadable(Path.of("/proc/self/environ")), "needs /proc to find the rank");
  }

  private void train(int workers, int servers, String... more) throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "train",
                "mnist-dnn",
                "--via",
                "weft",
                "--workers",
                "" + workers,
                "--servers",
                "" + servers,
                // Only the killed rank may be lost, even on a busy machine.
                "--silence-limit",
                "60s",
                "--deadline",
                "120s",
                "--start-deadline",
                "120s"));
    arguments.addAll(List.of(more));
    ProcessBuilder builder = CommandProcess.of(arguments.toArray(String[]::new));
    builder.environment().put(RehearsedTraining.REAL, "1");
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
  void asynchronousWorkersContinueWithoutTheKilledWorker() throws Exception {
    train(2, 1, "--epochs", "1");
    await("epoch 1/1 ");
    kill(2);
    assertThat(code()).as(told.toString()).isZero();
    assertThat(told)
        .contains("rank 2 on localhost was lost (killed by SIGKILL")
        .contains("the job goes on with 2 ranks")
        .contains("the job is done, without rank 2 on localhost");
    assertThat(directory.resolve("out"))
        .content()
        .startsWith("mnist-dnn on 2 workers and 1 server over ")
        .contains("lost           workers [1]");
  }

  @Test
  void remainingAsynchronousWorkerFailsNamingTheKilledServer() throws Exception {
    train(2, 2, "--epochs", "1000");
    await("epoch 1/1000 ");
    kill(2);
    await("[3] ", "epoch ", "step "); // the next worker reports progress
    kill(1);
    long killed = System.nanoTime();
    await("[3] weft train: step ", "failed, because /job:ps/task:1 is lost");
    assertThat(System.nanoTime() - killed).as("nanoseconds").isLessThan(LIMIT_NANOS);
    assertThat(code()).as(told.toString()).isEqualTo(1);
    assertThat(told)
        .contains("the job goes on with 3 ranks")
        .contains("the job failed: rank 1 on localhost: killed by SIGKILL");
  }

  @Test
  void synchronousWorkersFailNamingTheKilledWorker() throws Exception {
    train(2, 1, "--epochs", "1000", "--sync", "gradients");
    await("epoch 1/1000 ");
    kill(2);
    await("weft train: step ", "/job:worker/task:1 is lost: rank 2 on ");
    assertThat(code()).as(told.toString()).isEqualTo(1);
    assertThat(told).contains("the job failed: rank 2 on localhost: killed by SIGKILL");
  }

  @Test
  void synchronousWorkersFailNamingTheKilledServer() throws Exception {
    train(2, 1, "--epochs", "1000", "--sync", "gradients");
    await("epoch 1/1000 ");
    kill(0);
    long killed = System.nanoTime();
    await("weft train: step ", "failed, because /job:ps/task:0 is lost");
    assertThat(System.nanoTime() - killed).as("nanoseconds").isLessThan(LIMIT_NANOS);
    assertThat(code()).as(told.toString()).isEqualTo(1);
    assertThat(told).contains("the job failed: rank 0 on localhost: killed by SIGKILL");
  }
}
