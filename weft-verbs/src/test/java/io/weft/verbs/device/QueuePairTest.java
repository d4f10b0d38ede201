// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks the operations of two connected queue pairs on each other's memory.
@Tag("rdma")
@Timeout(300)
class QueuePairTest {

  private Loop loop;

  @BeforeEach
  void connect() {
    loop = new Loop();
    byte[] bytes = new byte[Loop.BYTES];
    new Random(1).nextBytes(bytes);
    loop.mine().copyFrom(java.lang.foreign.MemorySegment.ofArray(bytes));
  }

  @AfterEach
  void close() {
    loop.close();
  }

  private int key() {
    return loop.there.remoteKey();
  }

  @Test
  void writeLandsInThePeersMemory() {
    assertThat(
            loop.one.tryWrite(
                7, QueuePair.Flag.SIGNALED, loop.here, 3, 500_000, loop.remote(5), key()))
        .isTrue();
    loop.await(1);
    assertThat(loop.done.words(0)).contains("succeeded");
    assertThat(loop.done.id(0)).isEqualTo(7);
    assertThat(loop.done.isReceive(0)).isFalse();
    assertThat(loop.theirs().asSlice(5, 500_000).mismatch(loop.mine().asSlice(3, 500_000)))
        .isEqualTo(-1);
    assertThat(loop.theirs().get(JAVA_BYTE, 4)).isZero();
  }

  @Test
  void aWriteWithAnImmediateValueConsumesOneReceiveAndDeliversIt() {
    assertThat(loop.receives.fill()).isPositive();
    assertThat(
            loop.one.tryWriteImmediate(
                8, QueuePair.Flag.NONE, loop.here, 0, 4097, loop.remote(0), key(), 0xCAFEBABE))
        .isTrue();
    loop.await(1);
    assertThat(loop.done.succeeded(0)).isTrue();
    assertThat(loop.done.isReceive(0)).isTrue();
    assertThat(loop.done.immediate(0)).isEqualTo(0xCAFEBABE);
    assertThat(loop.done.bytes(0)).isEqualTo(4097);
    assertThat(loop.done.queuePair(0)).isEqualTo(loop.other.number());
    assertThat(loop.theirs().asSlice(0, 4097).mismatch(loop.mine().asSlice(0, 4097))).isEqualTo(-1);
  }

  @Test
  void aNoticeCarriesOnlyAnImmediateValue() {
    assertThat(loop.receives.fill()).isPositive();
    assertThat(loop.other.tryNotice(9, QueuePair.Flag.NONE, -5)).isTrue();
    loop.await(1);
    assertThat(loop.done.immediate(0)).isEqualTo(-5);
    assertThat(loop.done.bytes(0)).isZero();
  }

  @Test
  void readFetchesThePeersMemory() {
    loop.theirs().fill((byte) 9);
    assertThat(
            loop.one.tryRead(
                10, QueuePair.Flag.SIGNALED, loop.here, 100, 300_000, loop.remote(50), key()))
        .isTrue();
    loop.await(1);
    assertThat(loop.done.words(0)).contains("succeeded");
    assertThat(loop.mine().asSlice(100, 300_000).mismatch(loop.theirs().asSlice(50, 300_000)))
        .isEqualTo(-1);
  }

  @Test
  void theBufferOfAnInlineWriteIsReusableOncePosted() {
    assertThat(loop.one.inlineBytes()).isGreaterThanOrEqualTo(64);
    loop.mine().set(JAVA_LONG, 0, 12345);
    int flags = QueuePair.Flag.INLINE | QueuePair.Flag.SIGNALED;
    assertThat(loop.one.tryWrite(12, flags, loop.here, 0, 8, loop.remote(0), key())).isTrue();
    loop.mine().set(JAVA_LONG, 0, 0);
    loop.await(1);
    assertThat(loop.theirs().get(JAVA_LONG, 0)).isEqualTo(12345);
  }

  @Test
  void fetchAndAddChangesThePeersMemoryAtomically() {
    loop.theirs().set(JAVA_LONG, 8, 40);
    assertThat(
            loop.one.tryFetchAdd(
                13, QueuePair.Flag.SIGNALED, loop.here, 0, loop.remote(8), key(), 2))
        .isTrue();
    loop.await(1);
    assertThat(loop.done.words(0)).contains("succeeded");
    assertThat(loop.mine().get(JAVA_LONG, 0)).isEqualTo(40);
    assertThat(loop.theirs().get(JAVA_LONG, 8)).isEqualTo(42);
  }

  @Test
  void requestsCompleteInTheOrderInWhichTheyWerePosted() {
    List<Long> expected = new ArrayList<>();
    for (long id = 100; id < 150; id++) {
      assertThat(
              loop.one.tryWrite(
                  id, QueuePair.Flag.SIGNALED, loop.here, 0, 20_000, loop.remote(id), key()))
          .isTrue();
      expected.add(id);
    }
    List<Long> completed = new ArrayList<>();
    long start = System.nanoTime();
    while (completed.size() < expected.size()) {
      int count = loop.done.poll();
      for (int i = 0; i < count; i++) {
        assertThat(loop.done.words(i)).contains("succeeded");
        completed.add(loop.done.id(i));
      }
      assertThat(System.nanoTime() - start).as("all complete").isLessThan(Loop.LIMIT_NANOS);
    }
    assertThat(completed).isEqualTo(expected);
  }

  @Test
  void aWrongKeyIsAnErrorWithItsReason() {
    assertThat(
            loop.one.tryWrite(
                14, QueuePair.Flag.SIGNALED, loop.here, 0, 64, loop.remote(0), key() ^ 0x5500))
        .isTrue();
    loop.await(1);
    assertThat(loop.done.status(0)).isEqualTo(WorkStatus.REMOTE_ACCESS);
    assertThat(loop.done.words(0)).contains("remote access", "status 10", "closed or too short");
    assertThat(loop.theirs().get(JAVA_LONG, 0)).isZero();
  }

  @Test
  void keyOfARegionThatIsClosedIsRefusedByThePeersDevice() {
    long address = loop.remote(0);
    int key = key();
    loop.there.close();
    assertThat(loop.one.tryWrite(16, QueuePair.Flag.SIGNALED, loop.here, 0, 64, address, key))
        .isTrue();
    loop.await(1);
    assertThat(loop.done.status(0)).isEqualTo(WorkStatus.REMOTE_ACCESS);
  }

  @Test
  void anEmptyReceiveQueueFailsTheSenderWithTheReason() {
    try (Loop hasty = new Loop(new QueuePairSettings(64, 64, 16, 7, 1, 1))) {
      assertThat(hasty.one.tryNotice(17, QueuePair.Flag.SIGNALED, 1)).isTrue();
      hasty.await(1);
      assertThat(hasty.done.status(0)).isEqualTo(WorkStatus.RECEIVER_NOT_READY);
      assertThat(hasty.done.words(0)).contains("no receive posted", "status 13");
    }
  }

  @Test
  void accessBeyondTheRegionIsRefusedByThePeersDevice() {
    assertThat(
            loop.one.tryRead(
                15,
                QueuePair.Flag.SIGNALED,
                loop.here,
                0,
                4096,
                loop.remote(Loop.BYTES - 100),
                key()))
        .isTrue();
    loop.await(1);
    assertThat(loop.done.status(0))
        .isIn(WorkStatus.REMOTE_ACCESS, WorkStatus.REMOTE_INVALID_REQUEST);
  }

  @Test
  void bothQueuePairsTakeReceivesOfTheSharedQueue() {
    assertThat(loop.receives.capacity()).isEqualTo(Loop.RECEIVES);
    assertThat(loop.receives.fill()).isEqualTo(Loop.RECEIVES);
    assertThat(loop.receives.fill()).isZero();
    for (int i = 0; i < 2 * Loop.RECEIVES; i++) {
      QueuePair from = i % 3 == 0 ? loop.one : loop.other;
      QueuePair to = i % 3 == 0 ? loop.other : loop.one;
      assertThat(from.tryNotice(i, QueuePair.Flag.SIGNALED, i)).isTrue();
      long start = System.nanoTime();
      for (int seen = 0, count; seen < 2; seen += count) {
        assertThat(System.nanoTime() - start).as("both in time").isLessThan(Loop.LIMIT_NANOS);
        count = loop.done.poll();
        for (int at = 0; at < count; at++) {
          assertThat(loop.done.words(at)).contains("succeeded");
          if (loop.done.isReceive(at)) {
            assertThat(loop.done.immediate(at)).isEqualTo(i);
            assertThat(loop.done.queuePair(at)).isEqualTo(to.number());
            loop.receives.consumed(1);
          }
        }
      }
    }
  }

  @Test
  void aSenderWaitsUntilTheSharedQueueIsFilledAgain() {
    int notices = Loop.RECEIVES + 9;
    assertThat(loop.receives.fill()).isEqualTo(Loop.RECEIVES);
    for (int i = 0; i < notices; i++) {
      assertThat(loop.one.tryNotice(i, QueuePair.Flag.NONE, i)).isTrue();
    }
    receive(0, Loop.RECEIVES);
    assertThat(loop.done.poll()).isZero();
    loop.receives.consumed(Loop.RECEIVES);
    receive(Loop.RECEIVES, notices);
  }

  private void receive(int from, int to) {
    long start = System.nanoTime();
    for (int seen = from, count; seen < to; seen += count) {
      assertThat(System.nanoTime() - start).as("all in time").isLessThan(Loop.LIMIT_NANOS);
      count = loop.done.poll();
      for (int at = 0; at < count; at++) {
        assertThat(loop.done.words(at)).contains("succeeded");
        assertThat(loop.done.immediate(at)).isEqualTo(seen + at);
      }
    }
  }

  @Test
  void aFailedQueuePairLeavesTheReceivesToTheOther() {
    assertThat(loop.receives.fill()).isEqualTo(Loop.RECEIVES);
    loop.other.fail();
    loop.other.close();
    assertThat(loop.done.poll()).isZero();
    assertThat(loop.receives.fill()).isZero();
  }
}
