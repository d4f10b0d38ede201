// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Checks the order and the moments of scheduled tasks.
class ScheduledTasksTest {

  private static final long BEGIN = Long.MAX_VALUE - 5; // the clock overflows

  private final ScheduledTasks tasks = new ScheduledTasks(BEGIN);
  private final List<String> ran = new ArrayList<>();

  @Test
  void tasksRunInOrderOfTimeAndOfSubmission() {
    assertThat(tasks.add(BEGIN + 20, () -> ran.add("late"))).isTrue();
    assertThat(tasks.add(BEGIN + 10, () -> ran.add("first"))).isTrue();
    assertThat(tasks.add(BEGIN + 10, () -> ran.add("second"))).isTrue();
    assertThat(tasks.run(BEGIN + 9)).isZero();
    assertThat(tasks.run(BEGIN + 10)).isEqualTo(2);
    assertThat(ran).containsExactly("first", "second");
    assertThat(tasks.run(BEGIN + 100)).isEqualTo(1);
    assertThat(ran).containsExactly("first", "second", "late");
    assertThat(tasks.run(BEGIN + 200)).isZero();
  }

  @Test
  void aTaskMayScheduleAnotherOneAndMayThrow() {
    boolean unused =
        tasks.add(
            BEGIN,
            () -> {
              boolean added = tasks.add(BEGIN + 1, () -> ran.add("next"));
              throw new IllegalStateException("expected, added " + added);
            });
    assertThat(tasks.run(BEGIN + 1)).isEqualTo(2);
    assertThat(ran).containsExactly("next");
  }

  @Test
  void theEndRunsTheRemainingTasksAndRefusesLaterOnes() {
    assertThat(tasks.add(BEGIN + 1_000, () -> ran.add("remaining"))).isTrue();
    tasks.end();
    assertThat(ran).containsExactly("remaining");
    assertThat(tasks.add(BEGIN, () -> ran.add("refused"))).isFalse();
    assertThat(tasks.run(BEGIN + 2_000)).isZero();
    assertThat(ran).containsExactly("remaining");
  }
}
