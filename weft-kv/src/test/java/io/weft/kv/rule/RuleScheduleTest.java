// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.kv.rule.RuleSchedule.Change;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RuleScheduleTest {

  private final RuleSchedule schedule = new RuleSchedule("momentum:lr=1,momentum=0.5");

  private float rate(long step) {
    return schedule.at(step).rate(1);
  }

  @Test
  void aStepHasTheChangesOfItsOwnAndEarlierSteps() {
    schedule.add(new Change(10, "lr=3"), 0);
    schedule.add(new Change(5, "lr=2,clip=1"), 0);
    schedule.add(new Change(10, "momentum=0.25"), 0);
    assertThat(schedule.at(4)).isEqualTo(UpdateRules.parse("momentum:lr=1,momentum=0.5"));
    assertThat(schedule.at(5)).isEqualTo(UpdateRules.parse("momentum:lr=2,momentum=0.5,clip=1"));
    assertThat(schedule.at(9)).isEqualTo(schedule.at(5));
    assertThat(schedule.at(Long.MAX_VALUE))
        .isEqualTo(UpdateRules.parse("momentum:lr=3,momentum=0.25,clip=1"));
    assertThat(schedule.changes())
        .containsExactly(new Change(5, "lr=2,clip=1"), new Change(10, "lr=3,momentum=0.25"));
  }

  @Test
  void stepsThatBeginAgainHaveTheChangesThatHold() {
    schedule.add(new Change(5, "lr=2"), 0);
    schedule.add(new Change(7, "clip=1"), 0);
    schedule.add(new Change(20, "lr=4"), 0);
    assertThat(schedule.changesFrom(8))
        .containsExactly(new Change(0, "lr=2,clip=1"), new Change(12, "lr=4"));
    assertThat(schedule.changesFrom(0)).isEqualTo(schedule.changes());
  }

  @Test
  void changesThatAreLongPastAreJoined() {
    for (int step = 1; step <= 3 * RuleSchedule.KEPT_STEPS; step++) {
      schedule.add(new Change(step, "lr=" + step), step - 1);
    }
    schedule.add(new Change(1_000_000, "clip=1"), 0);
    assertThat(schedule.changes().size()).isEqualTo((int) RuleSchedule.KEPT_STEPS + 3);
    long last = 3 * RuleSchedule.KEPT_STEPS;
    assertThat(rate(last)).isEqualTo(last);
    assertThat(rate(last - RuleSchedule.KEPT_STEPS)).isEqualTo(last - RuleSchedule.KEPT_STEPS);
    assertThat(schedule.at(999_999)).isInstanceOf(Momentum.class);
    assertThat(schedule.at(1_000_000)).isInstanceOf(Clipped.class);
  }

  @Test
  void changesAheadAreLimitedAndARefusedOneHasNoEffect() {
    for (int step = 1; step <= RuleSchedule.MOST; step++) {
      schedule.add(new Change(step, "lr=2"), 0);
    }
    assertThatThrownBy(() -> schedule.add(new Change(RuleSchedule.MOST + 1L, "lr=3"), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("8193 changes");
    assertThatThrownBy(() -> schedule.add(new Change(3, "lr=x"), 0))
        .hasMessageContaining("which is not a number");
    assertThat(rate(RuleSchedule.MOST + 1L)).isEqualTo(2);
  }

  @Test
  void aChangeIsReadAsItWasWritten() {
    var change = new Change(12, "lr=0.5,decay=1e-4");
    assertThat(Change.parse(change.text())).isEqualTo(change);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "12", "x lr=1", "-1 lr=1", " lr=1", "99999999999999999999 lr=1"})
  void aLineThatIsNoChangeIsRefused(String line) {
    assertThatThrownBy(() -> Change.parse(line)).isInstanceOf(IllegalArgumentException.class);
  }
}
