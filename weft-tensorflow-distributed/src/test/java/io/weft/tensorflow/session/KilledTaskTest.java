// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks tasks in separate processes, one of which is killed during training.
class KilledTaskTest {

  private static final int SERVER = 0;
  private static final int WORKER = 1;

  /// The limit in milliseconds for the failure of a step, long before its own deadline.
  private static final long LIMIT = Clusters.LONG.toMillis() / 2;

  private static final String FAILURE = "TASK_LOST /job:ps/task:0";
  private static final Pattern FAILURES =
      Pattern.compile(
          FAILURE
              + " at (\\d+)"
              + (", " + FAILURE + " after (\\d+) ms").repeat(3)
              + ", holds nothing");

  @TempDir Path directory;
  private final List<Process> tasks = new ArrayList<>();

  private void train(String transport) throws Exception {
    tasks.add(ClusterProgram.start(directory, transport, SERVER));
    tasks.add(ClusterProgram.start(directory, transport, WORKER));
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

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void everyStepWithoutItsServerFailsInTimeNamingIt(String transport) throws Exception {
    train(transport);
    long killed = System.currentTimeMillis();
    tasks.get(SERVER).destroyForcibly(); // kill -9
    Matcher text = FAILURES.matcher(ending(WORKER));
    assertThat(text.find()).as(printed(WORKER)).isTrue();
    assertThat(Long.parseLong(text.group(1)) - killed).as("ms to the first").isBetween(0L, LIMIT);
    for (int i = 2; i <= text.groupCount(); i++) {
      assertThat(Long.parseLong(text.group(i))).as("ms of the next").isLessThan(LIMIT);
    }
  }

  @Test
  void serverReleasesTheStateOfAKilledWorker() throws Exception {
    train("tcp");
    tasks.get(WORKER).destroyForcibly();
    assertThat(ending(SERVER)).contains("served, holds nothing");
  }

  /// Waits until a task ends by itself and returns its output.
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
