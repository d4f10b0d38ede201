// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.transport.ring.MessageBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks both ends of a ring on one link file, without a peer.
@Timeout(120)
class RingTest {

  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static final long SEED = Long.getLong("weft.test.seed", 1);
  private static final long FILE = 3L * ControlLayout.RING_BYTES;
  private static final int MOST_IN_FLIGHT = ControlLayout.RING_BYTES / ShmFrame.BYTES;

  private final MemorySegment link = Arena.ofAuto().allocate(ControlLayout.LINK_BYTES, 4096);
  private final RingWriter writer = new RingWriter(link);
  private final RingReader reader = new RingReader(link);
  private final MessageBuffer messages = new MessageBuffer(ShmFrame.INLINE_BYTES);

  /// Returns content that depends on the number of its frame.
  private static MemorySegment content(long number, int bytes) {
    byte[] content = new byte[bytes];
    new Random(number).nextBytes(content);
    return MemorySegment.ofArray(content);
  }

  private boolean put(long number, int bytes) throws ShmFault {
    if (!writer.hasRoom(bytes)) {
      return false;
    }
    writer.header(ShmFrame.MESSAGE, (int) number, -1, 7, number << 20, bytes);
    writer.payload(content(number, bytes), 0, bytes);
    writer.publish(bytes);
    return true;
  }

  private void take(long number, int bytes) {
    assertThat(reader.readInt(ShmFrame.KIND)).isEqualTo(ShmFrame.MESSAGE);
    assertThat(reader.readInt(ShmFrame.IMMEDIATE)).isEqualTo((int) number);
    assertThat(reader.readInt(ShmFrame.KEY)).isEqualTo(-1);
    assertThat(reader.readInt(ShmFrame.CONTEXT)).isEqualTo(7);
    assertThat(reader.readLong(ShmFrame.OFFSET)).isEqualTo(number << 20);
    assertThat(reader.readLong(ShmFrame.LENGTH)).isEqualTo(bytes);
    assertThat(reader.holds(bytes)).isTrue();
    MemorySegment message = reader.message(messages, bytes);
    assertThat(message.mismatch(content(number, bytes)))
        .as("frame %d, seed %d", number, SEED)
        .isEqualTo(-1);
    MemorySegment copy = MemorySegment.ofArray(new byte[bytes + 1]);
    reader.payload(copy, 1, bytes);
    assertThat(copy.asSlice(1).mismatch(content(number, bytes))).as("copy").isEqualTo(-1);
    reader.skip(bytes);
  }

  /// Returns lengths whose frames begin everywhere in the ring and wrap in each way.
  private static int length(long number) {
    return new Random(SEED * 31 + number).nextInt(ShmFrame.INLINE_BYTES + 1);
  }

  @Test
  void contentsSurviveEveryWrap() throws ShmFault {
    long taken = 0;
    long bytes = 0;
    for (long number = 0; bytes < 20L * ControlLayout.RING_BYTES; number++) {
      int length = length(number);
      while (!put(number, length)) {
        assertThat(reader.look()).isTrue();
        while (!reader.isEmpty()) {
          take(taken, length(taken));
          taken++;
        }
        reader.publish();
      }
      bytes += length;
    }
  }

  /// The reader's thread spins while the writer's thread publishes: every frame that it sees is
  /// complete.
  @Test
  void visibleFramesAreComplete() throws Exception {
    int count = 20_000;
    long begin = System.nanoTime();
    CompletableFuture<Void> written = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                for (long number = 0; number < count; number++) {
                  while (!put(number, length(number) & 255)) {
                    assertInTime(begin);
                  }
                }
                written.complete(null);
              } catch (ShmFault | RuntimeException | Error e) {
                written.completeExceptionally(e);
              }
            });
    for (long number = 0; number < count; ) {
      if (!reader.look()) {
        assertInTime(begin);
        Thread.yield();
      }
      while (!reader.isEmpty()) {
        take(number, length(number) & 255);
        number++;
      }
      reader.publish();
    }
    written.get(10, TimeUnit.SECONDS);
  }

  private static void assertInTime(long begin) {
    assertThat(System.nanoTime() - begin).as("nanoseconds without an end").isLessThan(LIMIT_NANOS);
  }

  @Test
  void aFullRingAcceptsNothingUntilRoomIsPublished() throws ShmFault {
    long number = 0;
    while (put(number, 0)) {
      number++;
    }
    assertThat(number).isEqualTo(MOST_IN_FLIGHT);
    assertThat(writer.mayPut(0)).isFalse();
    assertThat(writer.isBlocked()).isTrue();
    writer.prepareToWait();
    assertThat(reader.look()).isTrue();
    take(0, 0);
    assertThat(writer.findRoom()).as("room that is not given back").isFalse();
    reader.publish();
    assertThat(reader.isRoomWanted()).isTrue();
    assertThat(reader.isRoomWanted()).as("said again").isFalse();
    assertThat(writer.findRoom()).isTrue();
    assertThat(put(number, 0)).isTrue();
    assertThat(put(number + 1, 0)).isFalse();
  }

  @Test
  void stagingSlotsAreFilledInOrderAndBounded() throws ShmFault {
    MemorySegment file = MemorySegment.ofArray(new byte[(int) FILE]);
    MemorySegment.copy(content(1, (int) FILE), 0, file, 0, FILE);
    MemorySegment arrived = MemorySegment.ofArray(new byte[(int) FILE]);
    long sent = 0;
    long received = 0;
    while (received < FILE) {
      while (sent < FILE && writer.mayStage()) {
        int part = (int) Math.min(ControlLayout.STAGING_SLOT_BYTES, FILE - sent);
        writer.stage(file, sent, part);
        sent += part;
        assertThat(sent - received)
            .isLessThanOrEqualTo(
                (long) ControlLayout.STAGING_SLOTS * ControlLayout.STAGING_SLOT_BYTES);
      }
      assertThat(reader.look()).isTrue();
      assertThat(reader.readInt(ShmFrame.KIND)).isEqualTo(ShmFrame.STAGED);
      int part = (int) reader.readLong(ShmFrame.LENGTH);
      reader.staged(arrived, received, part);
      reader.emptySlot();
      reader.skip(0);
      received += part;
    }
    assertThat(arrived.mismatch(file)).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(longs = {-32, 31, ControlLayout.RING_BYTES + 32, Long.MAX_VALUE, Long.MIN_VALUE})
  void anInvalidTailIsRefused(long tail) {
    link.set(ValueLayout.JAVA_LONG, ControlLayout.TAIL, tail);
    assertThatThrownBy(reader::look).isInstanceOf(ShmFault.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {-32, MOST_IN_FLIGHT * 33L, Long.MAX_VALUE})
  void anInvalidHeadIsRefused(long head) throws ShmFault {
    for (long number = 0; number < MOST_IN_FLIGHT; number++) {
      assertThat(put(number, 0)).isTrue();
    }
    link.set(ValueLayout.JAVA_LONG, ControlLayout.HEAD, head);
    assertThatThrownBy(() -> writer.hasRoom(0)).isInstanceOf(ShmFault.class);
  }
}
