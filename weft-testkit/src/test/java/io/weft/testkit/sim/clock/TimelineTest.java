// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TimelineTest {

  private final Timeline timeline = new Timeline();
  private final List<String> heard = new ArrayList<>();

  private ScheduledEvent event(String name) {
    return new ScheduledEvent() {
      @Override
      protected void happen() {
        heard.add(name + "@" + timeline.now());
      }
    };
  }

  @Test
  void eventsHappenInOrderOfTimeThenOfScheduling() {
    timeline.at(5, event("late"));
    timeline.at(3, event("first"));
    timeline.at(3, event("second"));
    while (timeline.step(100)) {}
    assertThat(heard).containsExactly("first@3", "second@3", "late@5");
    assertThat(timeline.happened()).isEqualTo(3);
  }

  @Test
  void nothingHappensAfterTheLimit() {
    timeline.at(5, event("late"));
    assertThat(timeline.step(4)).isFalse();
    assertThat(timeline.now()).isZero();
    assertThat(timeline.step(5)).isTrue();
  }

  @Test
  void anEventInThePastHappensNow() {
    timeline.at(5, event("one"));
    timeline.step(5);
    timeline.at(2, event("two"));
    timeline.step(5);
    assertThat(heard).containsExactly("one@5", "two@5");
  }

  @Test
  void anEventThatIsDueIsNotScheduledTwice() {
    ScheduledEvent event = event("once");
    timeline.at(1, event);
    assertThatThrownBy(() -> timeline.at(2, event)).isInstanceOf(IllegalStateException.class);
    timeline.notAfter(9, event);
    assertThat(timeline.nextNanos()).isEqualTo(1);
    timeline.notAfter(0, event);
    assertThat(timeline.nextNanos()).isZero();
  }

  @Test
  void cancellationsKeepTheOrderOfManyEvents() {
    Random random = new Random(11);
    record Due(long nanos, int number, ScheduledEvent event) {}
    List<Due> due = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      Due one = new Due(random.nextInt(300), i, event(Integer.toString(i)));
      timeline.at(one.nanos, one.event);
      due.add(one);
      if (random.nextInt(3) == 0) {
        Due gone = due.remove(random.nextInt(due.size()));
        timeline.cancel(gone.event);
        timeline.cancel(gone.event);
      }
    }
    while (timeline.step(1000)) {}
    assertThat(heard)
        .containsExactlyElementsOf(
            due.stream()
                .sorted(Comparator.comparingLong(Due::nanos).thenComparingInt(Due::number))
                .map(one -> one.number + "@" + one.nanos)
                .toList());
  }
}
