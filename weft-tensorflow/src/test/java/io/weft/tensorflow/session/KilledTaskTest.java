// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Tasks in processes of their own, one of which is killed while they train.
class KilledTaskTest {

  private static final int SERVER = 0;
  private static final int WORKER = 1;

  @TempDir Path directory;
  private final List<Process> tasks = new ArrayList<>();

  @BeforeEach
  void train() throws Exception {
    tasks.add(ClusterProgram.start(directory, SERVER));
    tasks.add(ClusterProgram.start(directory, WORKER));
    long end = System.nanoTime() + Clusters.LONG.toNanos();
    while (!Files.exists(directory.resolve("trained"))) {
      assertThat(tasks).as(printed(SERVER) + printed(WORKER)).allMatch(Process::isAlive);
      assertThat(System.nanoTime() - end).as("trained in time").isNegative();
      LockSupport.parkNanos(10_000_000);
    }
  }

  @AfterEach
  void end() throws Exception {
    for (Process task : tasks) {
      task.destroyForcibly().waitFor();
    }
  }

  @Test
  void stepsWithoutTheirServerFailNamingIt() throws Exception {
    tasks.get(SERVER).destroyForcibly();
    assertThat(ending(WORKER)).contains("TASK_LOST /job:ps/task:0, holds nothing");
  }

  @Test
  void serverForgetsAWorkerThatIsKilled() throws Exception {
    tasks.get(WORKER).destroyForcibly();
    assertThat(ending(SERVER)).contains("served, holds nothing");
  }

  /// What a task printed, which ends by itself.
  private String ending(int rank) throws Exception {
    boolean over = tasks.get(rank).waitFor(2, TimeUnit.MINUTES);
    String text = printed(rank);
    assertThat(over).as("ended; printed " + text).isTrue();
    assertThat(tasks.get(rank).exitValue()).as(text).isZero();
    return text;
  }

  private String printed(int rank) throws Exception {
    return Files.readString(ClusterProgram.printed(directory, rank).toPath());
  }
}
