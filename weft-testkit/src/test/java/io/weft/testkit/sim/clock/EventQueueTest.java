// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EventQueueTest {

  private final EventQueue events = new EventQueue();
  private final List<String> heard = new ArrayList<>();

  private ScheduledEvent event(String name) {
    return new ScheduledEvent() {
      @Override
      protected void happen() {
        heard.add(name + "@" + events.now());
      }
    };
  }

  @Test
  void eventsHappenInOrderOfTimeThenOfScheduling() {
    events.at(5, event("late"));
    events.at(3, event("first"));
    events.at(3, event("second"));
    while (events.step(100)) {}
    assertThat(heard).containsExactly("first@3", "second@3", "late@5");
    assertThat(events.happened()).isEqualTo(3);
  }

  @Test
  void nothingHappensAfterTheLimit() {
    events.at(5, event("late"));
    assertThat(events.step(4)).isFalse();
    assertThat(events.now()).isZero();
    assertThat(events.step(5)).isTrue();
  }

  @Test
  void anEventInThePastHappensNow() {
    events.at(5, event("one"));
    events.step(5);
    events.at(2, event("two"));
    events.step(5);
    assertThat(heard).containsExactly("one@5", "two@5");
  }

  @Test
  void anEventThatIsDueIsNotScheduledTwice() {
    ScheduledEvent event = event("once");
    events.at(1, event);
    assertThatThrownBy(() -> events.at(2, event)).isInstanceOf(IllegalStateException.class);
    events.notAfter(9, event);
    assertThat(events.nextNanos()).isEqualTo(1);
    events.notAfter(0, event);
    assertThat(events.nextNanos()).isZero();
  }

  @Test
  void cancellationsKeepTheOrderOfManyEvents() {
    Random random = new Random(11);
    record Due(long nanos, int number, ScheduledEvent event) {}
    List<Due> due = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      Due one = new Due(random.nextInt(300), i, event(Integer.toString(i)));
      events.at(one.nanos, one.event);
      due.add(one);
      if (random.nextInt(3) == 0) {
        Due gone = due.remove(random.nextInt(due.size()));
        events.cancel(gone.event);
        events.cancel(gone.event);
      }
    }
    while (events.step(1000)) {}
    assertThat(heard)
        .containsExactlyElementsOf(
            due.stream()
                .sorted(Comparator.comparingLong(Due::nanos).thenComparingInt(Due::number))
                .map(one -> one.number + "@" + one.nanos)
                .toList());
  }
}
