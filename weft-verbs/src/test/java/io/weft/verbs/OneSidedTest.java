// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.TransportException;
import io.weft.verbs.Parties.Heard;
import io.weft.verbs.Parties.Party;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks writes and reads that the device performs without the owner of the region, and their
/// outcome after the owner has closed the region.
@Tag("rdma")
@Timeout(300)
class OneSidedTest {

  private static final int BYTES = 3_000_000;

  private final Parties parties = new Parties(2, Parties.settings());
  private final Party here = parties.get(0);
  private final Party there = parties.get(1);
  private final MemoryRegion own = here.transport.allocate(BYTES);
  private final Random random = new Random(11);

  @AfterEach
  void close() {
    parties.close();
  }

  private static long counted(Party party, String name) {
    return party.transport.counters().get(name);
  }

  private void change() {
    byte[] bytes = new byte[BYTES];
    random.nextBytes(bytes);
    own.segment().copyFrom(MemorySegment.ofArray(bytes));
  }

  private VerbsOutcome write(RemoteSlice into, int immediate) {
    VerbsOutcome done = new VerbsOutcome();
    parties.post(() -> here.to(1).tryWrite(own.slice(0, into.bytes()), into, immediate, done));
    parties.until(done::isDone, "the write is complete");
    return done;
  }

  private VerbsOutcome read(RemoteSlice from) {
    VerbsOutcome done = new VerbsOutcome();
    parties.post(() -> here.to(1).tryRead(own.slice(0, from.bytes()), from, done));
    parties.until(done::isDone, "the read is complete");
    return done;
  }

  /// Waits for the peer's offer of the region's block.
  private RemoteSlice offered(MemoryRegion region) {
    RemoteSlice all = new RemoteSlice(region.export(), 0, BYTES);
    long before = counted(here, "oneSidedWrittenBytes");
    for (int i = 0; counted(here, "oneSidedWrittenBytes") == before; i++) {
      assertThat(i).as("writes without an offer").isLessThan(4);
      assertThat(write(all, i).failure()).isNull();
      parties.until(() -> !there.heardOf(0).isEmpty(), "it has landed");
      there.heardOf(0).clear();
    }
    return all;
  }

  @Test
  void writesIntoTransportMemoryAreOneSided() {
    MemoryRegion region = there.transport.allocate(BYTES);
    RemoteSlice all = offered(region);
    long before = counted(here, "oneSidedWrittenBytes");
    for (int i = 0; i < 4; i++) {
      change();
      assertThat(counted(here, "oneSidedWrittenBytes") - before).isEqualTo(i * (long) BYTES);
      assertThat(write(all, i).failure()).isNull();
      parties.until(() -> !there.heardOf(0).isEmpty(), "it has landed");
      assertThat(there.heardOf(0).remove()).isEqualTo(new Heard.Notice(i));
      assertThat(region.segment().mismatch(own.segment())).isEqualTo(-1);
    }
    assertThat(here.to(1).bytesSent()).isGreaterThan(4L * BYTES);
  }

  @Test
  void readsFromTransportMemoryAreOneSided() {
    MemoryRegion region = there.transport.allocate(BYTES);
    RemoteSlice unused = offered(region);
    RemoteSlice part = new RemoteSlice(region.export(), 5, BYTES - 9);
    for (int i = 0; i < 4; i++) {
      region.segment().fill((byte) (i + 1));
      assertThat(counted(here, "oneSidedReadBytes")).isEqualTo(i * (BYTES - 9L));
      assertThat(read(part).failure()).isNull();
      assertThat(own.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) (i + 1));
      assertThat(own.segment().get(ValueLayout.JAVA_BYTE, BYTES - 10)).isEqualTo((byte) (i + 1));
      assertThat(own.segment().get(ValueLayout.JAVA_BYTE, BYTES - 9)).isZero();
    }
    assertThat(here.to(1).bytesReceived()).isGreaterThan(4L * (BYTES - 9));
  }

  /// The read is longer than the longest request to the device.
  @Test
  void aLongReadIsCompleteAndLeavesRoomForMessages() {
    int bytes = 40 << 20;
    MemoryRegion region = there.transport.allocate(bytes);
    MemoryRegion into = here.transport.allocate(bytes);
    RemoteSlice part = offered(region);
    assertThat(part.bytes()).isEqualTo(BYTES);
    for (long at = 0; at < bytes; at += 4096) {
      region.segment().set(ValueLayout.JAVA_LONG, at, ~at);
    }
    VerbsOutcome done = new VerbsOutcome();
    RemoteSlice all = new RemoteSlice(region.export(), 0, bytes);
    parties.post(() -> here.to(1).tryRead(into.slice(0, bytes), all, done));
    parties.post(() -> here.to(1).trySend(MemorySegment.ofArray(new byte[1])));
    parties.until(() -> !there.heardOf(0).isEmpty(), "the message comes");
    assertThat(done.isDone()).as("before the read is complete").isFalse();
    parties.until(done::isDone, "the read is complete");
    assertThat(done.failure()).isNull();
    assertThat(counted(here, "oneSidedReadBytes")).isEqualTo(bytes);
    for (long at = 0; at < bytes; at += 4096) {
      assertThat(into.segment().get(ValueLayout.JAVA_LONG, at)).isEqualTo(~at);
    }
  }

  @Test
  void foreignMemoryIsNotOffered() {
    try (var arena = Arena.ofShared()) {
      MemoryRegion foreign = there.transport.register(arena.allocate(BYTES, 8), arena);
      for (int i = 0; i < 4; i++) {
        assertThat(write(new RemoteSlice(foreign.export(), 0, BYTES), i).failure()).isNull();
      }
      assertThat(counted(here, "oneSidedWrittenBytes")).isZero();
      foreign.close();
    }
  }

  /// A service registers a part of the memory for each transfer.
  @Test
  void aPartOfTransportMemoryIsOneSidedAtOnce() {
    MemoryRegion whole = there.transport.allocate(2 * BYTES);
    RemoteSlice unused = offered(whole);
    for (int i = 0; i < 3; i++) {
      change();
      MemoryRegion part =
          there.transport.register(whole.segment().asSlice(1000L + i, BYTES), whole);
      long before = counted(here, "oneSidedWrittenBytes");
      assertThat(write(new RemoteSlice(part.export(), 0, BYTES), i).failure()).isNull();
      parties.until(() -> !there.heardOf(0).isEmpty(), "it has landed");
      there.heardOf(0).clear();
      assertThat(counted(here, "oneSidedWrittenBytes") - before).isEqualTo(BYTES);
      assertThat(part.segment().mismatch(own.segment())).isEqualTo(-1);
      part.release();
      assertThat(part.isVisited()).isFalse();
    }
  }

  /// The peer may still access the part, so that its pages must not be reused.
  @Test
  void memoryThatIsFreedBeforeItsPartIsNotReused() {
    MemoryRegion whole = there.transport.allocate(BYTES);
    long address = whole.segment().address();
    RemoteSlice unused = offered(whole);
    MemoryRegion part = there.transport.register(whole.segment().asSlice(0, BYTES / 2), whole);
    RemoteSlice slice = new RemoteSlice(part.export(), 0, BYTES / 2);
    whole.release();
    MemoryRegion other = there.transport.allocate(BYTES);
    assertThat(other.segment().address()).isNotEqualTo(address);
    assertThat(write(slice, 3).failure()).isNull();
    part.close();
    assertThat(part.isVisited()).as("the peer has not left").isTrue();
    parties.until(() -> !part.isVisited(), "the peer leaves");
    assertThat(there.transport.allocate(BYTES).segment().address()).isEqualTo(address);
    assertThat(write(slice, 4).failure()).isInstanceOf(TransportException.Refused.class);
  }

  @Test
  void memoryOfAClosedRegionIsNotReusedBeforeItsPeersHaveLeft() {
    MemoryRegion region = there.transport.allocate(BYTES);
    long address = region.segment().address();
    RemoteSlice all = offered(region);
    region.close();
    MemoryRegion other = there.transport.allocate(BYTES);
    assertThat(other.segment().address()).isNotEqualTo(address);
    other.close();
    parties.until(
        () -> {
          MemoryRegion again = there.transport.allocate(BYTES);
          boolean same = again.segment().address() == address;
          again.close();
          return same;
        },
        "the memory is free");
    MemoryRegion next = there.transport.allocate(BYTES);
    assertThat(write(all, 9).failure())
        .isInstanceOf(TransportException.Refused.class)
        .hasMessageContaining("rank 1");
    assertThat(read(all).failure()).isInstanceOf(TransportException.Refused.class);
    parties.post(() -> here.to(1).trySend(MemorySegment.ofArray(new byte[1])));
    parties.until(() -> !there.heardOf(0).isEmpty(), "the endpoint lives");
    assertThat(there.heardOf(0).remove()).isInstanceOf(Heard.Message.class);
    assertThat(next.segment().mismatch(MemorySegment.ofArray(new byte[BYTES]))).isEqualTo(-1);
  }

  /// The memory already belongs to another region.
  @Test
  void earlierRegionsOfAPlaceAreRefused() {
    RemoteSlice unused = offered(there.transport.allocate(BYTES));
    MemoryRegion first = there.transport.allocate(BYTES);
    RemoteSlice early = new RemoteSlice(first.export(), 0, BYTES);
    MemoryRegion hidden = there.transport.allocate(BYTES);
    first.close();
    hidden.close();
    RemoteSlice late = new RemoteSlice(hidden.export(), 0, BYTES);
    for (int i = 0; i < 3; i++) {
      MemoryRegion next = there.transport.allocate(BYTES);
      assertThat(next.export().bytes()).isEqualTo(BYTES);
      next.close();
      parties.until(() -> !next.isVisited(), "the peer leaves");
    }
    for (RemoteSlice closed : List.of(early, late)) {
      assertThat(read(closed).failure()).isInstanceOf(TransportException.Refused.class);
    }
    assertThat(write(early, 9).failure()).isInstanceOf(TransportException.Refused.class);
  }

  @Test
  void aPeerThatLearnedOfTheCloseCannotWriteToTheRegion() {
    MemoryRegion region = there.transport.allocate(BYTES);
    RemoteSlice all = offered(region);
    region.close();
    parties.post(() -> there.to(0).trySend(MemorySegment.ofArray(new byte[] {1})));
    parties.until(() -> !here.heardOf(1).isEmpty(), "the message comes");
    assertThat(write(all, 9).failure()).isInstanceOf(TransportException.Refused.class);
    assertThat(there.heardOf(0)).isEmpty();
  }

  @Test
  void memoryOfferedToAClosedEndpointIsFree() {
    MemoryRegion region = there.transport.allocate(BYTES);
    long address = region.segment().address();
    RemoteSlice unused = offered(region);
    region.close();
    there.to(0).close();
    MemoryRegion again = there.transport.allocate(BYTES);
    assertThat(again.segment().address()).isEqualTo(address);
  }
}
