// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.transport.MemoryRegion;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import io.weft.transport.ring.MessageBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that bytes which a broken peer can write into our memory are refused with a message and
/// that no memory is touched.
class HostilePeerTest implements ShmInbound.RingListener {

  private final MemorySegment link =
      Arena.ofAuto().allocate(ControlLayout.LINK_BYTES, ControlLayout.PAGE);
  private final RegionTable table = new RegionTable("test");
  private final OpQueue waiting = new OpQueue(16);
  private final ShmInbound inbound =
      new ShmInbound(new RingReader(link), table, waiting, new MessageBuffer(1 << 16), this);
  private final RingWriter writer = new RingWriter(link);
  private int heard;

  @ParameterizedTest
  @ValueSource(longs = {-32, 1, 33, ControlLayout.RING_BYTES + 32, Long.MAX_VALUE, Long.MIN_VALUE})
  void anInvalidRingTailIsRefused(long tail) {
    link.set(ValueLayout.JAVA_LONG, ControlLayout.TAIL, tail);
    assertThatThrownBy(inbound::receive).isInstanceOf(ShmFault.class).hasMessageContaining("end");
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 33, 1 << 16, (1 << 16) + 1, Long.MAX_VALUE, 1L << 32})
  void aMessageLongerThanThePublishedBytesIsRefused(long length) {
    writer.header(ShmFrame.MESSAGE, 0, 0, 0, 0, length);
    writer.publish(32);
    assertThatThrownBy(inbound::receive)
        .isInstanceOf(ShmFault.class)
        .hasMessageContaining("message of " + length);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 11, Integer.MAX_VALUE})
  void aFrameOfUnknownKindIsRefused(int kind) {
    writer.header(kind, 0, 0, 0, 0, 0);
    writer.publish(0);
    assertThatThrownBy(inbound::receive).hasMessageContaining("unknown kind");
  }

  @Test
  void aWriteOutsideItsRegionIsRefused() {
    try (MemoryRegion region = table.allocate(100)) {
      int key = region.export().key();
      for (long[] bad : new long[][] {{0, 101}, {100, 1}, {-1, 1}, {1, Long.MAX_VALUE}, {0, -1}}) {
        HostilePeerTest fresh = new HostilePeerTest();
        try (MemoryRegion its = fresh.table.allocate(100)) {
          fresh.writer.header(ShmFrame.WRITE, 0, its.export().key(), 0, bad[0], bad[1]);
          fresh.writer.publish(0);
          assertThatThrownBy(fresh.inbound::receive).hasMessageContaining("outside");
        }
      }
      writer.header(ShmFrame.WRITE, 0, key + (1 << 16), 0, 0, 1);
      writer.publish(32);
      assertThatThrownBy(inbound::receive).hasMessageContaining("never open");
    }
  }

  @Test
  void anUnexpectedStagingSlotIsRefused() throws ShmFault {
    writer.header(ShmFrame.STAGED, 0, 0, 0, 0, 10);
    writer.publish(0);
    assertThatThrownBy(inbound::receive).hasMessageContaining("0 are due");
  }

  @Test
  void aStagingSlotLongerThanThePayloadIsRefused() throws ShmFault {
    try (MemoryRegion region = table.allocate(10_000)) {
      writer.header(ShmFrame.WRITE, 0, region.export().key(), 0, 0, 10_000);
      writer.publish(0);
      assertThat(inbound.receive()).isEqualTo(1);
      writer.header(ShmFrame.STAGED, 0, 0, 0, 0, 10_001);
      writer.publish(0);
      assertThatThrownBy(inbound::receive).hasMessageContaining("10000 are due");
    }
  }

  @Test
  void aWithdrawnWriteCannotBeWithdrawnAgain() throws ShmFault {
    try (MemoryRegion region = table.allocate(10_000)) {
      writer.header(ShmFrame.WRITE, 0, region.export().key(), 0, 0, 10_000);
      writer.publish(0);
      writer.header(ShmFrame.WITHDRAWN, 0, region.export().key(), 0, 0, 0);
      writer.publish(0);
      assertThat(inbound.receive()).isEqualTo(2);
      writer.header(ShmFrame.WITHDRAWN, 0, region.export().key(), 0, 0, 0);
      writer.publish(0);
      assertThatThrownBy(inbound::receive).hasMessageContaining("has not begun");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {ShmFrame.READ_DATA, ShmFrame.READ_LANDED, ShmFrame.READ_REFUSED})
  void anAnswerToNoReadIsRefused(int kind) {
    writer.header(kind, 0, 0, 7, 0, 0);
    writer.publish(0);
    assertThatThrownBy(inbound::receive).hasMessageContaining("not posted");
  }

  @Test
  void aRefusalOfAReadInsideAWriteIsRefused() throws ShmFault {
    try (MemoryRegion region = table.allocate(10_000)) {
      ShmOperation read = waiting.add();
      read.begin(ShmOperation.OperationKind.READ);
      read.region = (LocalRegion) region;
      read.context = 7;
      writer.header(ShmFrame.WRITE, 0, region.export().key(), 0, 0, 10_000);
      writer.publish(0);
      assertThat(inbound.receive()).isEqualTo(1);
      writer.header(ShmFrame.READ_REFUSED, 0, 0, 7, 0, 0);
      writer.publish(0);
      assertThatThrownBy(inbound::receive).hasMessageContaining("inside the payload of a write");
    }
  }

  @Test
  void aReadWithoutATargetIsRefused() {
    writer.header(ShmFrame.READ, 0, 0, 0, 0, 100);
    writer.publish(0);
    assertThatThrownBy(inbound::receive).hasMessageContaining("without a target");
    assertThat(heard).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {ShmFrame.READ_DATA, ShmFrame.READ_LANDED})
  void anAnswerOfTheWrongLengthIsRefused(int kind) throws ShmFault {
    try (MemoryRegion region = table.allocate(100)) {
      ShmOperation read = waiting.add();
      read.begin(ShmOperation.OperationKind.READ);
      read.region = (LocalRegion) region;
      read.bytes = 100;
      read.context = 7;
      writer.header(kind, 0, 0, 7, 0, 99);
      writer.publish(128);
      assertThatThrownBy(inbound::receive).hasMessageContaining("99 bytes to a read of 100");
    }
  }

  @Test
  void anInvalidRingHeadIsRefused() {
    link.set(ValueLayout.JAVA_LONG, ControlLayout.HEAD, 64);
    assertThatThrownBy(() -> writer.hasRoom(ControlLayout.RING_BYTES)).hasMessageContaining("ring");
  }

  @Test
  void randomBytesCauseNoExceptionOtherThanAFault() {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      HostilePeerTest fresh = new HostilePeerTest();
      for (int i = 0; i < 64; i++) {
        long at = ControlLayout.RING + 4L * random.nextInt(64);
        fresh.link.set(ValueLayout.JAVA_INT, at, random.nextInt(-1, 12));
      }
      fresh.link.set(ValueLayout.JAVA_LONG, ControlLayout.TAIL, 32L * random.nextInt(1, 8));
      try {
        assertThat(fresh.inbound.receive()).isPositive();
      } catch (ShmFault e) {
        assertThat(e.getMessage()).as("seed %d", seed).isNotBlank();
      }
    }
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public void message(MemorySegment message) {
    heard++;
  }

  @Override
  public void notified(int immediate) {
    heard++;
  }

  @Override
  public ShmOperation readWanted() {
    heard++;
    return new ShmOperation();
  }

  @Override
  public void readDone(ShmOperation read) {
    waiting.pop();
  }

  @Override
  public void readRefused(ShmOperation read, int reason) {
    waiting.pop();
  }

  @Override
  public void extentGone(int number) {
    heard++;
  }
}
