// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestChannel;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks how a job in one process reports a body that throws: far sooner than any deadline, which
/// is an hour here.
@Timeout(40)
class LocalJobFailureTest {

  private static final Duration HOUR = Duration.ofHours(1);

  private static LocalJob job(int size) {
    return LocalJob.start(size, WeftConfig.builder().transport("inproc").deadline(HOUR).build());
  }

  /// The operation for which the other ranks wait.
  enum Waits {
    COLLECTIVE {
      @Override
      Object wait(Weft weft) throws Exception {
        return weft.communicator().barrier(named("b")).await();
      }
    },
    STORE {
      @Override
      Object wait(Weft weft) throws Exception {
        return weft.store().get("never", HOUR);
      }
    },
    CHANNEL {
      @Override
      Object wait(Weft weft) throws Exception {
        var outcome = new CompletableFuture<RequestOutcome>();
        Request request =
            Request.of(
                RequestChannel.FIRST_FREE_KIND, MemorySegment.NULL, MemorySegment.NULL, HOUR);
        assertThat(weft.channel().tryRequest(1, request, outcome::complete)).isTrue();
        if (outcome.get() instanceof RequestOutcome.Failed(CommException cause)) {
          throw cause;
        }
        return outcome;
      }
    },
    NOTHING_OF_WEFT {
      @Override
      Object wait(Weft weft) throws Exception {
        new CountDownLatch(1).await();
        return weft;
      }
    };

    abstract Object wait(Weft weft) throws Exception;
  }

  @ParameterizedTest
  @EnumSource
  void theFirstErrorIsThrownWhateverTheOtherRanksAwait(Waits waits) {
    IllegalStateException bug = new IllegalStateException("my bug");
    try (LocalJob job = job(3)) {
      assertThatThrownBy(
              () ->
                  job.run(
                      weft -> {
                        if (weft.rank() == 1) {
                          throw bug;
                        }
                        return waits.wait(weft);
                      }))
          .isSameAs(bug);
      assertThat(bug.getSuppressed()).as("what the other two say").hasSize(2);
      if (waits == Waits.COLLECTIVE) {
        assertThat(bug.getSuppressed())
            .allSatisfy(
                symptom ->
                    assertThat(symptom)
                        .isInstanceOf(CommException.class)
                        .hasMessageContaining("rank 1")
                        .hasMessageContaining("my bug"));
      }
    }
  }

  @Test
  void theEarliestErrorIsThrownAndNotThatOfTheLowestRank() {
    CountDownLatch thrown = new CountDownLatch(1);
    try (LocalJob job = job(2)) {
      assertThatThrownBy(
              () ->
                  job.run(
                      weft -> {
                        if (weft.rank() == 1) {
                          Thread body = Thread.currentThread();
                          var unused =
                              Thread.ofPlatform()
                                  .daemon()
                                  .start(() -> countDownWhenIdle(body, thrown));
                          throw new AssertionError("the first");
                        }
                        thrown.await();
                        throw new IllegalStateException("a symptom");
                      }))
          .isInstanceOf(AssertionError.class)
          .hasMessage("the first")
          .satisfies(
              first ->
                  assertThat(first.getSuppressed())
                      .singleElement()
                      .asString()
                      .contains("a symptom"));
    }
  }

  /// The thread of the pool waits for its next task after it has completed this one.
  private static void countDownWhenIdle(Thread body, CountDownLatch thrown) {
    while (body.getState() == Thread.State.RUNNABLE) {
      Thread.yield();
    }
    thrown.countDown();
  }

  @Test
  void aJobWhoseBodiesAllEndIsStillUsable() throws Exception {
    try (LocalJob job = job(2)) {
      assertThatThrownBy(
              () ->
                  job.run(
                      weft -> {
                        throw new IllegalArgumentException("of rank " + weft.rank());
                      }))
          .isInstanceOf(IllegalArgumentException.class);
      List<Integer> ranks =
          job.run(
              weft -> {
                var unused = weft.communicator().barrier(named("again")).await();
                return weft.rank();
              });
      assertThat(ranks).containsExactly(0, 1);
    }
  }
}
