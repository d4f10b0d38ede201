// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.channel;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestChannel;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that no argument of a request or reply stops the progress thread or leaks a slot.
@Timeout(60)
class ChannelArgumentsTest {

  private static final Duration LONG = Duration.ofSeconds(50);
  private static final MemorySegment NOTHING = MemorySegment.NULL;

  private static RequestChannel channel(LocalJob job, int rank) {
    return job.ranks().get(rank).channel();
  }

  /// Checks that the job still works.
  private static void use(LocalJob job) throws Exception {
    channel(job, 1).serve(FIRST_FREE_KIND + 1, request -> request.reply(request.head()));
    MemorySegment seven = Arena.ofAuto().allocate(4);
    seven.set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 0, 7);
    Request request = Request.of(FIRST_FREE_KIND + 1, seven, NOTHING, LONG);
    assertThat(Answers.ask(channel(job, 0), 1, request).number()).isEqualTo(7);
    var unused = job.run(weft -> weft.communicator().barrier(named("whole")).isDone());
  }

  private static Request of(MemorySegment payload) {
    return Request.of(FIRST_FREE_KIND, NOTHING, payload, LONG);
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void memoryThatOtherThreadsCannotAccessIsRefusedAtTheCall(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      for (long bytes : new long[] {16, 200_000}) {
        try (Arena confined = Arena.ofConfined()) {
          MemorySegment own = confined.allocate(bytes);
          assertThatIllegalArgumentException()
              .isThrownBy(() -> of(own))
              .withMessageContaining("payload of a request")
              .withMessageContaining("Arena.ofShared()");
          assertThatIllegalArgumentException()
              .isThrownBy(() -> new Request(FIRST_FREE_KIND, NOTHING, NOTHING, own, LONG))
              .withMessageContaining("place");
        }
        Arena shared = Arena.ofShared();
        MemorySegment readOnly = shared.allocate(bytes).asReadOnly();
        assertThatIllegalArgumentException()
            .isThrownBy(() -> new Request(FIRST_FREE_KIND, NOTHING, NOTHING, readOnly, LONG))
            .withMessageContaining("read-only");
        Request closed = of(readOnly);
        shared.close();
        assertThatIllegalArgumentException()
            .isThrownBy(() -> Answers.ask(channel(job, 0), 1, closed))
            .withMessageContaining("closed");
      }
      use(job);
    }
  }

  /// The progress thread of rank 0 is blocked until the arena is closed.
  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aPayloadClosedDuringItsRequestFailsThatRequestOnly(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      channel(job, 1).serve(FIRST_FREE_KIND, request -> request.reply(NOTHING));
      for (long bytes : new long[] {16, 200_000}) {
        CountDownLatch standing = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        boolean taken =
            channel(job, 0)
                .tryRequest(
                    1,
                    of(NOTHING),
                    outcome -> {
                      standing.countDown();
                      awaited(closed);
                    });
        assertThat(taken).isTrue();
        assertThat(standing.await(30, TimeUnit.SECONDS)).isTrue();
        Answers lost;
        try (Arena arena = Arena.ofShared()) {
          lost = Answers.ask(channel(job, 0), 1, of(arena.allocate(bytes)));
        }
        closed.countDown();
        assertThat(lost.failure()).isInstanceOf(CommException.class);
      }
      use(job);
    }
  }

  private static void awaited(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  @Test
  void missingPartsOfARequestAreRefusedAndLeakNoSlot() throws Exception {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      Request whole = of(NOTHING);
      for (int i = 0; i < 2 * RequestChannel.MAX_OPEN; i++) {
        assertThatNullPointerException()
            .isThrownBy(() -> Request.of(FIRST_FREE_KIND, NOTHING, NOTHING, null))
            .withMessage("limit");
        assertThatNullPointerException()
            .isThrownBy(() -> assertThat(channel(job, 0).tryRequest(1, whole, null)).isFalse())
            .withMessage("receiver");
        assertThatNullPointerException()
            .isThrownBy(
                () -> assertThat(channel(job, 0).tryRequest(1, null, outcome -> {})).isFalse());
      }
      assertThatNullPointerException()
          .isThrownBy(() -> channel(job, 1).serve(FIRST_FREE_KIND, null))
          .withMessage("handler");
      use(job);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void argumentsOfRepliesAreCheckedAtTheCall(String transport) throws Exception {
    Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
    try (LocalJob job = LocalJob.over(transport, 2)) {
      channel(job, 1)
          .serve(
              FIRST_FREE_KIND,
              request -> {
                try (Arena confined = Arena.ofConfined()) {
                  MemorySegment own = confined.allocate(16);
                  refused(thrown, () -> request.reply(NOTHING, own, () -> {}));
                }
                refused(thrown, () -> request.fail(null));
                refused(thrown, () -> request.reply(null));
                refused(thrown, () -> request.reply(NOTHING, NOTHING, null));
                request.fail("after all");
              });
      try (Arena arena = Arena.ofShared()) {
        var request = new Request(FIRST_FREE_KIND, NOTHING, NOTHING, arena.allocate(1024), LONG);
        assertThat(Answers.ask(channel(job, 0), 1, request).failure())
            .hasMessageContaining("after all");
      }
      assertThat(thrown).hasSize(4);
      assertThat(thrown.poll())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("confined");
      assertThat(thrown).allSatisfy(e -> assertThat(e).isInstanceOf(NullPointerException.class));
      use(job);
    }
  }

  private static void refused(Queue<Throwable> thrown, Runnable call) {
    try {
      call.run();
    } catch (RuntimeException refused) {
      thrown.add(refused);
    }
  }

  /// A handler may pass on the message of an exception that has none.
  @Test
  void aFailureWithoutAReasonNamesTheHandlerToTheRequester() throws Exception {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      channel(job, 1)
          .serve(
              FIRST_FREE_KIND, request -> request.fail(new IllegalStateException().getMessage()));
      assertThat(Answers.ask(channel(job, 0), 1, of(NOTHING)).failure())
          .isInstanceOf(CommException.Aborted.class)
          .hasMessageContaining("its handler has thrown")
          .hasMessageContaining("why");
      use(job);
    }
  }

  @Test
  void callbacksOfEveryKindMustNotUseTheStore() throws Exception {
    Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
    CountDownLatch told = new CountDownLatch(3);
    WeftConfig config = WeftConfig.builder().transport("inproc").build();
    try (LocalJob job = LocalJob.start(2, config)) {
      Weft zero = job.ranks().getFirst();
      channel(job, 1)
          .serve(
              FIRST_FREE_KIND,
              (IncomingRequest request) -> {
                useStore(job.ranks().get(1), thrown);
                told.countDown();
                request.reply(NOTHING);
              });
      CompletableFuture<RequestOutcome> outcome = new CompletableFuture<>();
      boolean taken =
          zero.channel()
              .tryRequest(
                  1,
                  of(NOTHING),
                  heard -> {
                    useStore(zero, thrown);
                    told.countDown();
                    outcome.complete(heard);
                  });
      assertThat(taken).isTrue();
      assertThat(outcome.get(30, TimeUnit.SECONDS)).isInstanceOf(RequestOutcome.Replied.class);
      CountDownLatch asked = new CountDownLatch(1);
      var unused =
          job.run(
              weft -> {
                if (weft.rank() == 1) {
                  asked.await();
                }
                var handle = weft.communicator().barrier(named("b"));
                if (weft.rank() == 0) {
                  handle.whenDone(
                      (done, failure) -> {
                        useStore(zero, thrown);
                        told.countDown();
                      });
                  asked.countDown();
                }
                return handle.await(LONG);
              });
      assertThat(told.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(thrown)
          .hasSize(3 * 7)
          .allSatisfy(
              refused ->
                  assertThat(refused)
                      .isInstanceOf(IllegalStateException.class)
                      .hasMessageContaining("in a callback"));
      assertThat(zero.store().find("k")).isEmpty();
      use(job);
    }
  }

  private static void useStore(Weft weft, Queue<Throwable> thrown) {
    byte[] value = {1};
    refused(thrown, () -> weft.store().put("k", value));
    refused(thrown, () -> assertThat(weft.store().putIfAbsent("k", value)).isTrue());
    refused(thrown, () -> assertThat(weft.store().compareAndSet("k", value, value)).isTrue());
    refused(thrown, () -> weft.store().remove("k"));
    refused(thrown, () -> assertThat(weft.store().find("k")).isEmpty());
    refused(thrown, () -> get(weft, value));
    refused(thrown, () -> awaitChange(weft, value));
  }

  private static void get(Weft weft, byte[] value) {
    try {
      assertThat(weft.store().get("never", LONG)).isEqualTo(value);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  private static void awaitChange(Weft weft, byte[] value) {
    try {
      assertThat(weft.store().awaitChange("never", value, LONG)).isEmpty();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }
}
