// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.channel;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestChannel;
import io.weft.comm.CommException;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks requests between two ranks of this process over each transport.
@Timeout(60)
class RequestChannelTest {

  private static final Duration LONG = Duration.ofSeconds(50);
  private static final int[] SIZES = {0, 1, 100, 8_192, 70_000, 3, 1_000_000, 0, 65_536};

  private final Arena arena = Arena.ofAuto();

  private MemorySegment bytes(int count, int seed) {
    MemorySegment bytes = arena.allocate(Math.max(1, count), 64).asSlice(0, count);
    for (int i = 0; i < count; i++) {
      bytes.set(JAVA_BYTE, i, (byte) (i * 31 + seed));
    }
    return bytes;
  }

  private MemorySegment number(int value) {
    MemorySegment head = arena.allocate(4);
    head.set(JAVA_INT_UNALIGNED, 0, value);
    return head;
  }

  private static int number(IncomingRequest request) {
    return request.head().get(JAVA_INT_UNALIGNED, 0);
  }

  private static RequestChannel channel(LocalJob job, int rank) {
    return job.ranks().get(rank).channel();
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void requestsOfAllSizesAreServedInOrder(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      List<Integer> served = new ArrayList<>();
      AtomicInteger wrong = new AtomicInteger();
      channel(job, 1)
          .serve(
              FIRST_FREE_KIND,
              request -> {
                int number = number(request);
                served.add(number);
                MemorySegment expected = bytes(SIZES[number % SIZES.length], number);
                boolean same =
                    request.payload().byteSize() == expected.byteSize()
                        && request.payload().mismatch(expected) < 0;
                wrong.addAndGet(same ? 0 : 1);
                request.reply(number(-number));
              });
      List<Answers> answers = new ArrayList<>();
      for (int i = 0; i < 10 * SIZES.length; i++) {
        MemorySegment payload = bytes(SIZES[i % SIZES.length], i);
        answers.add(
            Answers.ask(channel(job, 0), 1, Request.of(FIRST_FREE_KIND, number(i), payload, LONG)));
      }
      for (int i = 0; i < answers.size(); i++) {
        assertThat(answers.get(i).number()).isEqualTo(-i);
      }
      assertThat(wrong).hasValue(0);
      assertThat(served).hasSize(answers.size()).isSorted();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aReplyIsWrittenIntoTheMemoryThatTheRequestNames(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      AtomicInteger released = new AtomicInteger();
      channel(job, 1)
          .serve(
              FIRST_FREE_KIND,
              request ->
                  request.reply(
                      request.head(),
                      bytes((int) request.intoBytes() - 1, number(request)),
                      released::incrementAndGet));
      for (int size : new int[] {2, 5_000, 300_000, 3_000_000}) {
        MemorySegment into = arena.allocate(size, 64);
        var request = new Request(FIRST_FREE_KIND, number(size), MemorySegment.NULL, into, LONG);
        Answers answer = Answers.ask(channel(job, 0), 1, request);
        assertThat(answer.number()).isEqualTo(size);
        assertThat(answer.written()).isEqualTo(size - 1);
        assertThat(into.asSlice(0, size - 1).mismatch(bytes(size - 1, size))).isEqualTo(-1);
      }
      assertThat(released).hasValue(4);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void requestsWaitForAHandlerAndAreRefusedBeyondTheBound(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      List<Answers> answers = new ArrayList<>();
      Answers answer =
          Answers.ask(
              channel(job, 0), 1, Request.of(FIRST_FREE_KIND, number(0), bytes(9, 0), LONG));
      while (answer.isTaken()) {
        answers.add(answer);
        Request next = Request.of(FIRST_FREE_KIND, number(answers.size()), bytes(9, 0), LONG);
        answer = Answers.ask(channel(job, 0), 1, next);
      }
      assertThat(answers).hasSize(RequestChannel.MAX_OPEN);
      channel(job, 1).serve(FIRST_FREE_KIND, request -> request.reply(request.head()));
      for (int i = 0; i < answers.size(); i++) {
        assertThat(answers.get(i).number()).isEqualTo(i);
      }
      Request more = Request.of(FIRST_FREE_KIND, number(7), MemorySegment.NULL, LONG);
      assertThat(Answers.ask(channel(job, 0), 1, more).number()).isEqualTo(7);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aKindWithAHandlerOvertakesAKindWithoutOne(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      int other = RequestChannel.MAX_KIND;
      MemorySegment payload = bytes(200_000, 1);
      Request early = Request.of(FIRST_FREE_KIND, number(5), payload, LONG);
      Request later = Request.of(other, number(5), payload, LONG);
      Answers waits = Answers.ask(channel(job, 0), 1, early);
      channel(job, 1).serve(other, request -> request.reply(number(2)));
      assertThat(Answers.ask(channel(job, 0), 1, later).number()).isEqualTo(2);
      assertThat(waits.isEnded()).isFalse();
      channel(job, 1).serve(FIRST_FREE_KIND, request -> request.reply(number(1)));
      assertThat(waits.number()).isEqualTo(1);
      assertThat(Answers.ask(channel(job, 0), 1, later).number()).isEqualTo(2);
      assertThatThrownBy(() -> Request.of(other + 1, number(0), payload, LONG))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("kinds from 0 to 255");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aRequestTimesOutAndItsLateReplyIsIgnored(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      var kept = new ConcurrentLinkedQueue<IncomingRequest>();
      channel(job, 1).serve(FIRST_FREE_KIND, kept::add);
      Duration brief = Duration.ofMillis(30);
      var late = Request.of(FIRST_FREE_KIND, number(1), bytes(200_000, 1), brief);
      assertThat(Answers.ask(channel(job, 0), 1, late).failure())
          .isInstanceOf(CommException.TimedOut.class)
          .hasMessageContaining("rank 1")
          .hasMessageContaining("30 ms");
      channel(job, 1).serve(FIRST_FREE_KIND, request -> request.reply(request.head()));
      for (IncomingRequest request : kept) {
        request.reply(request.head());
        assertThatThrownBy(() -> request.fail("again")).isInstanceOf(IllegalStateException.class);
      }
      Request next = Request.of(FIRST_FREE_KIND, number(2), bytes(200_000, 2), LONG);
      assertThat(Answers.ask(channel(job, 0), 1, next).number()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aFailedRequestNamesTheReasonAndTheRank(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      channel(job, 1)
          .serve(
              FIRST_FREE_KIND,
              request -> {
                if (number(request) == 1) {
                  throw new IllegalStateException("a defect of the test");
                }
                request.fail("no such row");
              });
      Request refused = Request.of(FIRST_FREE_KIND, number(0), MemorySegment.NULL, LONG);
      assertThat(Answers.ask(channel(job, 0), 1, refused).failure())
          .isInstanceOf(CommException.Aborted.class)
          .hasMessageContaining("rank 1")
          .hasMessageContaining("no such row");
      Request broken = Request.of(FIRST_FREE_KIND, number(1), MemorySegment.NULL, LONG);
      assertThat(Answers.ask(channel(job, 0), 1, broken).failure())
          .hasMessageContaining("a defect of the test");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void requestsToARankThatLeavesFail(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      var kept = new ConcurrentLinkedQueue<IncomingRequest>();
      channel(job, 1).serve(FIRST_FREE_KIND, kept::add);
      List<Answers> answers = new ArrayList<>();
      for (int size : new int[] {10, 500_000}) {
        Request request = Request.of(FIRST_FREE_KIND, number(size), bytes(size, 1), LONG);
        answers.add(Answers.ask(channel(job, 0), 1, request));
      }
      job.ranks().get(1).close();
      for (Answers answer : answers) {
        assertThat(answer.failure())
            .isInstanceOf(CommException.PeerLost.class)
            .hasMessageContaining("rank 1")
            .hasMessageContaining("has left")
            .extracting(failure -> ((CommException.PeerLost) failure).witness())
            .as("the witness of an orderly departure")
            .isEqualTo(-1);
      }
      Request late = Request.of(FIRST_FREE_KIND, number(0), MemorySegment.NULL, LONG);
      assertThat(Answers.ask(channel(job, 0), 1, late).failure())
          .isInstanceOf(CommException.PeerLost.class);
      kept.forEach(request -> request.reply(MemorySegment.NULL));
    }
  }
}
