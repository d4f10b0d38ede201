// SPDX-License-Identifier: Apache-2.0
package io.weft.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.agent.AgentRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

final class CompletableHandleTest {

  private static final Duration SECONDS = Duration.ofSeconds(20);

  private final CompletableHandle<String> handle = CompletableHandle.of("rank 1: pull of 'x'");

  @Test
  void theFirstEndCounts() throws InterruptedException {
    assertThat(handle.complete("first")).isTrue();
    assertThat(handle.complete("second")).isFalse();
    assertThat(handle.fail(new CommException.Mismatch("late"))).isFalse();
    assertThat(handle.await()).isEqualTo("first");
    assertThat(handle).hasToString("rank 1: pull of 'x': done");
  }

  @Test
  void anOperationWithoutAResultCompletesWithNull() throws InterruptedException {
    CompletableHandle<Void> empty = CompletableHandle.of("barrier");
    assertThat(empty.isDone()).isFalse();
    empty.complete(null);
    assertThat(empty.isDone()).isTrue();
    assertThat(empty.await(SECONDS)).isNull();
  }

  @Test
  void eachWaiterThrowsACopyWithItsOwnStackTrace() throws Exception {
    var cause = new CommException.PeerLost("rank 2 is lost", 2, 0, null);
    CompletableFuture<CommException> other =
        CompletableFuture.supplyAsync(this::failureInBackground);
    handle.fail(cause);
    CommException mine = catchThrowableOfType(CommException.class, () -> handle.await(SECONDS));
    CommException theirs = other.get(20, TimeUnit.SECONDS);
    assertThat(mine).isInstanceOf(CommException.PeerLost.class).isNotSameAs(cause);
    assertThat(theirs).isNotSameAs(mine).isNotSameAs(cause).hasMessage("rank 2 is lost");
    assertThat(methods(mine)).contains("eachWaiterThrowsACopyWithItsOwnStackTrace");
    assertThat(methods(theirs))
        .contains("failureInBackground")
        .doesNotContain("eachWaiterThrowsACopyWithItsOwnStackTrace");
  }

  private CommException failureInBackground() {
    return catchThrowableOfType(CommException.class, () -> handle.await(SECONDS));
  }

  private static List<String> methods(Throwable thrown) {
    return List.of(thrown.getStackTrace()).stream().map(StackTraceElement::getMethodName).toList();
  }

  @Test
  void aDefectFailsTheOperationAndNamesItsRank() {
    var defect = new IllegalArgumentException("no such row");
    handle.fail(defect, 3);
    assertThatThrownBy(handle::await)
        .isInstanceOfSatisfying(
            CommException.Broken.class, broken -> assertThat(broken.culprit()).isEqualTo(3))
        .hasCause(defect)
        .hasMessageContainingAll("rank 1: pull of 'x' failed", "no such row");
  }

  @Test
  void aTimeoutLeavesTheOperationRunning() throws InterruptedException {
    assertThatThrownBy(() -> handle.await(Duration.ofMillis(3)))
        .isInstanceOf(CommException.TimedOut.class)
        .hasMessage(
            "rank 1: pull of 'x' is not done after 3 ms; it continues, and its memory stays"
                + " borrowed; await again, or lower its deadline");
    assertThat(handle).hasToString("rank 1: pull of 'x': under way");
    handle.complete("late");
    assertThat(handle.await(Duration.ZERO)).isEqualTo("late");
  }

  @Test
  void anInterruptEndsAWait() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> handle.await(SECONDS)).isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void actionsRunOnceAndInOrder() {
    List<String> ran = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      int number = i;
      handle.whenDone(
          (result, cause) -> {
            ran.add(number + " " + result + " " + cause);
            if (number == 1) {
              throw new IllegalStateException("a callback that throws, which is only logged");
            }
          });
    }
    handle.complete("x");
    handle.complete("y");
    handle.whenDone((result, cause) -> ran.add("late " + result));
    assertThat(ran).containsExactly("0 x null", "1 x null", "2 x null", "3 x null", "late x");
  }

  @Test
  void waitersThatTimeOutLeaveNoActionBehind() {
    List<String> ran = new ArrayList<>();
    handle.whenDone((result, cause) -> ran.add("first"));
    handle.whenDone((result, cause) -> ran.add("second"));
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> handle.await(Duration.ofNanos(1)))
          .isInstanceOf(CommException.TimedOut.class);
    }
    handle.complete("x");
    assertThat(ran).containsExactly("first", "second");
  }

  @Test
  void aFutureCompletesAsTheOperationDoes() throws Exception {
    CompletableFuture<String> cancelled = handle.toCompletableFuture();
    CompletableFuture<String> future = handle.toCompletableFuture();
    cancelled.cancel(true);
    var cause = new CommException.Mismatch("shapes differ");
    handle.fail(cause);
    assertThatThrownBy(future::get).isInstanceOf(ExecutionException.class).hasCause(cause);
  }

  @Test
  void concurrentEndsTellEachActionOnce() throws Exception {
    for (int round = 0; round < 200; round++) {
      CompletableHandle<String> raced = CompletableHandle.of("raced");
      AtomicInteger told = new AtomicInteger();
      CompletableFuture<Boolean> one = CompletableFuture.supplyAsync(() -> raced.complete("a"));
      CompletableFuture<Boolean> two = CompletableFuture.supplyAsync(() -> raced.complete("b"));
      raced.whenDone((result, cause) -> told.incrementAndGet());
      assertThat(raced.await(SECONDS)).isIn("a", "b");
      assertThat(one.get(20, TimeUnit.SECONDS)).isNotEqualTo(two.get(20, TimeUnit.SECONDS));
      assertThat(told).hasValue(1);
    }
  }

  @Test
  void aWaiterDrivesTheAgentThatCompletesTheOperation() throws InterruptedException {
    Driven driven = new Driven(false);
    Handle<String> mine = driven.handle;
    assertThat(mine.await(SECONDS)).isEqualTo("after 3 duty cycles");
    assertThat(driven.runner.cycles).isEqualTo(3);
  }

  @Test
  void aCallbackMustNotAwaitWhatItsThreadCompletes() {
    Driven driven = new Driven(true);
    assertThatThrownBy(() -> driven.handle.await(SECONDS))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("await of the driven operation", "wait for itself");
  }

  /// A handle that completes in the third duty cycle of its runner.
  private static final class Driven {
    final Counted runner;
    final CompletableHandle<String> handle;

    Driven(boolean inside) {
      runner = new Counted(inside);
      handle =
          new CompletableHandle<>() {
            @Override
            protected String description() {
              return "the driven operation";
            }

            @Override
            protected AgentRunner runner() {
              return runner;
            }
          };
      runner.whenThird = () -> handle.complete("after 3 duty cycles");
    }
  }

  private static final class Counted implements AgentRunner {
    private final boolean inside;
    private Runnable whenThird = () -> {};
    private int cycles;

    Counted(boolean inside) {
      this.inside = inside;
    }

    @Override
    public void start() {}

    @Override
    public void commandQueued() {}

    @Override
    public boolean isInside() {
      return inside;
    }

    @Override
    public boolean drive(BooleanSupplier done, long deadlineNanos) {
      if (++cycles == 3) {
        whenThird.run();
      }
      return true;
    }

    @Override
    public void runLeft(Runnable left) {
      left.run();
    }

    @Override
    public boolean schedule(long atNanos, Runnable task) {
      return false;
    }

    @Override
    public long nanos() {
      return cycles;
    }

    @Override
    public void close() {}
  }
}
