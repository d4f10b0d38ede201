// SPDX-License-Identifier: Apache-2.0
package io.weft.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class HandlesTest {

  private final CompletableHandle<String> first = CompletableHandle.of("push of 'a'");
  private final CompletableHandle<String> second = CompletableHandle.of("push of 'b'");
  private final CompletableHandle<String> third = CompletableHandle.of("push of 'c'");
  private final List<String> discarded = new ArrayList<>();

  private Handle<List<String>> all() {
    return Handles.all(List.of(first, second, third), null, discarded::add);
  }

  @Test
  void completesWithTheResultsInTheOrderOfTheParts() throws InterruptedException {
    Handle<List<String>> all = all();
    third.complete("c");
    first.complete("a");
    assertThat(all.isDone()).isFalse();
    second.complete("b");
    assertThat(all.await()).containsExactly("a", "b", "c");
    assertThat(discarded).isEmpty();
  }

  @Test
  void failsWithTheFirstFailureWhenAllPartsHaveEndedAndDiscardsTheResults() {
    Handle<List<String>> all = all();
    third.fail(new CommException.Mismatch("third"));
    second.fail(new CommException.Mismatch("second"));
    assertThat(all.isDone()).isFalse();
    first.complete("a");
    assertThatThrownBy(all::await).hasMessage("second");
    assertThat(discarded).containsExactly("a");
  }

  @Test
  void failsWithTheRefusalIfAllSubmittedPartsHaveSucceeded() {
    var refusal = new CommException.TimedOut("no room for 'd'", List.of());
    Handle<List<String>> all = Handles.all(List.of(first), refusal, discarded::add);
    assertThat(all.isDone()).isFalse();
    first.complete("a");
    assertThatThrownBy(all::await).hasMessage("no room for 'd'").isNotSameAs(refusal);
    assertThat(discarded).containsExactly("a");
  }

  @Test
  void aTimeoutNamesThePartThatIsNotDone() {
    Handle<List<String>> all = all();
    first.complete("a");
    assertThatThrownBy(() -> all.await(Duration.ofMillis(2)))
        .isInstanceOf(CommException.TimedOut.class)
        .hasMessageStartingWith("push of 'b' is not done after 2 ms");
  }

  @Test
  void noPartsAreDoneAtOnce() throws InterruptedException {
    Handle<List<String>> none = Handles.all(List.<Handle<String>>of(), null, discarded::add);
    assertThat(none.await(Duration.ZERO)).isEmpty();
  }
}
