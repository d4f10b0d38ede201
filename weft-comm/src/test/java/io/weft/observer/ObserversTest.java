// SPDX-License-Identifier: Apache-2.0
package io.weft.observer;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.comm.CommException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ObserversTest {

  private record Receive(long id) implements ObservedOperation {
    @Override
    public Service service() {
      return Service.RENDEZVOUS;
    }

    @Override
    public long communicator() {
      return 0;
    }

    @Override
    public String name() {
      return "edge";
    }

    @Override
    public String words() {
      return "receive";
    }

    @Override
    public int sequence() {
      return 0;
    }

    @Override
    public long bytes() {
      return 0;
    }

    @Override
    public long submittedNanos() {
      return 1;
    }

    @Override
    public int lastHeard() {
      return -1;
    }

    @Override
    public List<Integer> awaited() {
      return List.of();
    }

    @Override
    public List<Integer> unsubmitted() {
      return List.of();
    }
  }

  private static final class Words implements OperationObserver {
    private final List<String> words = new ArrayList<>();

    @Override
    public void submitted(ObservedOperation operation) {
      words.add("submitted");
    }

    @Override
    public void reached(
        ObservedOperation operation, OperationStage stage, int exchange, long nanos) {
      words.add(stage + " " + exchange + " at " + nanos);
    }

    @Override
    public void ended(ObservedOperation operation, @Nullable CommException failure, long nanos) {
      words.add("ended at " + nanos);
    }
  }

  private static void tell(OperationObserver observer) {
    var operation = new Receive(1);
    observer.submitted(operation);
    observer.reached(operation, OperationStage.NEGOTIATED, 0, 2);
    observer.ended(operation, null, 3);
  }

  @Test
  void everyObserverReceivesAllEvents() {
    var first = new Words();
    var second = new Words();
    tell(Observers.of(first, second));
    assertThat(first.words).containsExactly("submitted", "NEGOTIATED 0 at 2", "ended at 3");
    assertThat(second.words).isEqualTo(first.words);
  }

  @Test
  void anObserverThatThrowsIsRemovedAndTheOthersContinue() {
    var calls = new ArrayList<Long>();
    OperationObserver broken =
        new OperationObserver() {
          @Override
          public void reached(
              ObservedOperation operation, OperationStage stage, int exchange, long nanos) {
            calls.add(nanos);
            throw new IllegalStateException("a defect");
          }
        };
    var words = new Words();
    Observers both = Observers.of(broken, words);
    tell(both);
    tell(both);
    assertThat(calls).hasSize(1);
    assertThat(words.words).hasSize(6);
  }

  @Test
  void aRemovedObserverReceivesNothing() {
    var words = new Words();
    Observers observers = Observers.of(words);
    observers.remove(words);
    tell(observers);
    assertThat(words.words).isEmpty();
  }
}
