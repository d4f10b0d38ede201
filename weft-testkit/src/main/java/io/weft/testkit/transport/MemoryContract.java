// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// The contract of registered memory, remote writes and remote reads.
public abstract class MemoryContract extends MessageContract {

  private static final long[] LENGTHS = {
    0, 1, 7, 4095, 4096, 4097, 65_537, 262_143, 262_144, 262_145, 1_000_003, 8 << 20
  };

  private static final long PART_BYTES = 100_000;

  /// Constructor for subclasses.
  protected MemoryContract() {}

  @Test
  final void allocatedRegionIsZeroedAndAligned() {
    Node a = net().node(0);
    MemoryRegion region = a.region(100_000);
    assertThat(region.segment().byteSize()).isEqualTo(100_000);
    assertThat(region.segment().address() % 4096).isZero();
    assertThat(region.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    assertThat(region.export().bytes()).isEqualTo(100_000);
  }

  @Test
  final void writesOfAllLengthsArriveWithTheirNotification() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion from = a.region((8 << 20) + 100, new Random(2));
    MemoryRegion into = b.region((8 << 20) + 100);
    for (int i = 0; i < LENGTHS.length; i++) {
      long bytes = LENGTHS[i];
      int immediate = i - 3;
      long at = 1L + i;
      long offset = 3L + 2L * i;
      CompletionRecord done = new CompletionRecord();
      into.segment().fill((byte) 0);
      net()
          .post(
              () ->
                  endpoint.tryWrite(
                      from.slice(at, bytes), Transfers.part(into, offset, bytes), immediate, done));
      int heard = i + 1;
      net().until(() -> b.heard(SinkEvent.Notified.class).size() == heard, bytes + " bytes land");
      net().until(done::isDone, "the write completes");
      assertThat(done.succeeded()).isTrue();
      assertThat(b.heard(SinkEvent.Notified.class).getLast().immediate()).isEqualTo(immediate);
      assertThat(Transfers.mismatch(from, at, into, offset, bytes)).isEqualTo(-1);
      assertThat(into.segment().get(ValueLayout.JAVA_BYTE, offset - 1)).isZero();
      assertThat(into.segment().get(ValueLayout.JAVA_BYTE, offset + bytes)).isZero();
    }
  }

  /// Services copy foreign memory once, so memory of `allocate` must not count as foreign.
  @Test
  final void partsOfAllocatedMemoryAreNotForeign() {
    Node a = net().node(0);
    for (int bytes : new int[] {1, 5000, 3 << 20}) {
      MemorySegment memory = a.region(bytes).segment();
      assertThat(a.transport().isForeign(memory)).isFalse();
      assertThat(a.transport().isForeign(memory.asSlice(bytes / 3, bytes / 2))).isFalse();
    }
  }

  /// Transfers parts of allocated memory, as services do. A transport that tells one-sided
  /// transfers from others must move all bytes one-sided and register nothing.
  @Test
  final void partsOfAllocatedMemoryMoveOneSided() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion own = a.region(1 << 20, new Random(5));
    MemoryRegion whole = b.region(1 << 20);
    move(endpoint, b, own, whole, 0);
    Map<String, Long> before = a.transport().counters();
    long served = counted(b.transport().counters(), "ringBytes");
    for (int i = 1; i <= 3; i++) {
      move(endpoint, b, own, whole, i);
    }
    Map<String, Long> after = a.transport().counters();
    long moved = after.containsKey("oneSidedWrittenBytes") ? 3 * PART_BYTES : 0;
    for (String name : List.of("oneSidedWrittenBytes", "oneSidedReadBytes")) {
      assertThat(counted(after, name) - counted(before, name)).as(name).isEqualTo(moved);
    }
    for (String name : List.of("ringBytes", "registrations")) {
      assertThat(counted(after, name)).as(name).isEqualTo(counted(before, name));
    }
    assertThat(counted(b.transport().counters(), "ringBytes")).isEqualTo(served);
  }

  private static long counted(Map<String, Long> counters, String name) {
    return counters.getOrDefault(name, 0L);
  }

  /// Writes to a part of the peer's memory, reads it back, and releases the part.
  private void move(Endpoint endpoint, Node b, MemoryRegion own, MemoryRegion whole, int at) {
    MemorySegment memory = whole.segment().asSlice(64L * at, PART_BYTES);
    MemoryRegion part = b.transport().register(memory, whole);
    CompletionRecord written = new CompletionRecord();
    int heard = b.heard(SinkEvent.Notified.class).size() + 1;
    net()
        .post(
            () -> endpoint.tryWrite(own.slice(at, PART_BYTES), Transfers.whole(part), at, written));
    net().until(() -> b.heard(SinkEvent.Notified.class).size() == heard, "the write lands");
    net().until(written::isDone, "the write completes");
    assertThat(Transfers.mismatch(own, at, part, 0, PART_BYTES)).isEqualTo(-1);
    CompletionRecord read = new CompletionRecord();
    net()
        .post(
            () ->
                endpoint.tryRead(
                    own.slice(PART_BYTES + at, PART_BYTES), Transfers.whole(part), read));
    net().until(read::isDone, "the read completes");
    assertThat(read.succeeded()).isTrue();
    assertThat(Transfers.mismatch(own, PART_BYTES + at, part, 0, PART_BYTES)).isEqualTo(-1);
    part.release();
    part.release();
    assertThat(part.isVisited()).isFalse();
  }

  @Test
  final void aReadIntoReadOnlyMemoryIsRefusedAtTheCall() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion from = b.region(100);
    MemorySegment memory = a.region(4096).segment().asReadOnly();
    try (MemoryRegion into = a.transport().register(memory, memory)) {
      assertThatThrownBy(
              () ->
                  endpoint.tryRead(
                      into.slice(0, 100), Transfers.whole(from), new CompletionRecord()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("read-only");
    }
  }

  @Test
  final void readsOfAllLengthsFetchTheBytes() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion into = a.region((8 << 20) + 100);
    MemoryRegion from = b.region((8 << 20) + 100, new Random(3));
    for (int i = 0; i < LENGTHS.length; i++) {
      long bytes = LENGTHS[i];
      long at = 1L + i;
      long offset = 3L + 2L * i;
      CompletionRecord done = new CompletionRecord();
      net()
          .post(
              () ->
                  endpoint.tryRead(
                      into.slice(at, bytes), Transfers.part(from, offset, bytes), done));
      net().until(done::isDone, bytes + " bytes are read");
      assertThat(done.succeeded()).isTrue();
      assertThat(Transfers.mismatch(into, at, from, offset, bytes)).isEqualTo(-1);
    }
    assertThat(b.heard(SinkEvent.Notified.class)).isEmpty();
  }

  @Test
  final void registeredForeignMemoryWorksLikeAllocatedMemory() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(100_000);
      Node.fill(memory, new Random(4));
      MemoryRegion from = a.transport().register(memory, arena);
      MemoryRegion into = b.region(100_000);
      CompletionRecord done = new CompletionRecord();
      net().post(() -> endpoint.tryWrite(from.slice(0, 100_000), Transfers.whole(into), 5, done));
      net().until(() -> b.heard(SinkEvent.Notified.class).size() == 1, "landed");
      net().until(done::isDone, "completed");
      assertThat(into.segment().mismatch(memory)).isEqualTo(-1);
      from.close();
    }
  }

  @Test
  final void heapMemoryCannotBeRegistered() {
    Node a = net().node(0);
    byte[] bytes = new byte[8];
    assertThatThrownBy(() -> a.transport().register(MemorySegment.ofArray(bytes), bytes))
        .isInstanceOf(TransportException.Registration.class)
        .hasMessageContaining("native");
  }

  @Test
  final void aSliceOfAnotherTransportIsRefused() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion other = b.region(8);
    assertThatThrownBy(
            () ->
                endpoint
                    .tryWrite(other.slice(0, 8), Transfers.whole(other), 0, new CompletionRecord())
                    .name())
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  final void slicesOfUnequalLengthAreRefused() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion from = a.region(8);
    MemoryRegion into = b.region(9);
    assertThatThrownBy(
            () ->
                endpoint
                    .tryWrite(from.slice(0, 8), Transfers.whole(into), 0, new CompletionRecord())
                    .name())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("8", "9");
  }

  @Test
  final void aSliceOutsideItsRegionIsRefused() {
    Node a = net().node(0);
    MemoryRegion region = a.region(8);
    assertThatThrownBy(() -> region.slice(1, 8)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> Transfers.part(region, 8, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  final void aReadOfAClosedRegionIsRefusedAndTheEndpointRemainsUsable() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion closed = b.region(100_000);
    RemoteSlice stale = Transfers.whole(closed);
    closed.close();
    b.region(100_000);
    assertReadRefused(a, endpoint, stale);
    assertUsable(a, b, endpoint);
  }

  @Test
  final void aReadOutOfBoundsIsRefusedAndTheEndpointRemainsUsable() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    RemoteRegion real = b.region(1000).export();
    RemoteRegion forged = new RemoteRegion(real.address(), 9000, real.key(), real.incarnation());
    assertReadRefused(a, endpoint, new RemoteSlice(forged, 500, 501));
    assertReadRefused(a, endpoint, new RemoteSlice(forged, 5000, 100));
    assertUsable(a, b, endpoint);
  }

  @Test
  final void aKeyOfAnotherIncarnationIsRefusedAndTheEndpointRemainsUsable() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion target = b.region(1000);
    RemoteRegion real = target.export();
    RemoteRegion old =
        new RemoteRegion(real.address(), real.bytes(), real.key(), real.incarnation() + 1);
    assertReadRefused(a, endpoint, new RemoteSlice(old, 0, 1000));
    CompletionRecord done = new CompletionRecord();
    MemoryRegion from = a.region(1000, new Random(5));
    net()
        .post(() -> endpoint.tryWrite(from.slice(0, 1000), new RemoteSlice(old, 0, 1000), 9, done));
    net().until(done::isDone, "the write is refused");
    assertThat(done.failure()).isInstanceOf(TransportException.Refused.class);
    assertThat(b.heard(SinkEvent.Notified.class)).isEmpty();
    assertThat(target.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    assertUsable(a, b, endpoint);
  }

  /// A write may have completed here before the peer sees it; the writer then does not learn of the
  /// refusal. In no case is memory written or the peer notified, and the endpoint remains usable.
  @Test
  final void writeToAClosedRegionTouchesNothing() {
    for (int bytes : new int[] {0, 100, 100_000, 8 << 20}) {
      Net own = new Net(provider(), bind(), waitFactor());
      try (own) {
        Node a = own.node(0);
        Node b = own.node(1);
        Endpoint endpoint = own.connect(a, b, 1);
        MemoryRegion closed = b.region(bytes);
        RemoteSlice stale = Transfers.whole(closed);
        closed.close();
        MemoryRegion bystander = b.region(bytes);
        MemoryRegion from = a.region(bytes, new Random(6));
        CompletionRecord done = new CompletionRecord();
        own.post(() -> endpoint.tryWrite(from.slice(0, bytes), stale, 1, done));
        own.until(done::isDone, "exactly one completion");
        if (done.failure() != null) {
          assertThat(done.failure()).isInstanceOf(TransportException.Refused.class);
        }
        own.post(() -> endpoint.trySend(MemorySegment.ofArray(new byte[] {1})));
        own.until(() -> !b.heard(SinkEvent.Received.class).isEmpty(), "the endpoint works on");
        assertThat(b.heard(SinkEvent.Notified.class)).isEmpty();
        assertThat(a.heard(SinkEvent.Failed.class)).isEmpty();
        assertThat(done.fired()).isOne();
        assertThat(bystander.segment().mismatch(MemorySegment.ofArray(new byte[bytes])))
            .isEqualTo(-1);
      }
    }
  }

  @Test
  final void closeWithPostedWorkThrows() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    int bytes = 1 << 20;
    MemoryRegion into = a.region(bytes);
    MemoryRegion from = b.region(bytes);
    CompletionRecord done = new CompletionRecord();
    net().post(() -> endpoint.tryRead(into.slice(0, bytes), Transfers.whole(from), done));
    assertThat(done.isDone()).isFalse();
    assertThatThrownBy(into::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("posted");
    net().until(done::isDone, "the read completes");
    into.close();
    into.close();
  }

  @Test
  final void postingAClosedRegionIsRefused() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion from = a.region(8);
    MemoryRegion into = b.region(8);
    var slice = from.slice(0, 8);
    from.close();
    assertThatThrownBy(
            () -> endpoint.tryWrite(slice, Transfers.whole(into), 0, new CompletionRecord()).name())
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  final void closeFailsPostedWorkFirst() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    int bytes = 8 << 20;
    MemoryRegion own = a.region(bytes);
    MemoryRegion remote = b.region(bytes);
    CompletionRecord done = new CompletionRecord();
    net().post(() -> endpoint.tryRead(own.slice(0, bytes), Transfers.whole(remote), done));
    endpoint.close();
    assertThat(done.isDone()).isTrue();
    assertThat(done.fired()).isOne();
    own.close();
    assertLost(b, "rank 0");
  }

  private void assertReadRefused(Node a, Endpoint endpoint, RemoteSlice from) {
    MemoryRegion into = a.region(from.bytes());
    CompletionRecord done = new CompletionRecord();
    net().post(() -> endpoint.tryRead(into.slice(0, from.bytes()), from, done));
    net().until(done::isDone, "the read is answered");
    assertThat(done.failure())
        .isInstanceOf(TransportException.Refused.class)
        .hasMessageContaining("rank 1");
    into.close();
  }

  private void assertUsable(Node a, Node b, Endpoint endpoint) {
    assertThat(a.heard(SinkEvent.Failed.class)).isEmpty();
    int before = b.heard(SinkEvent.Received.class).size();
    net().post(() -> endpoint.trySend(MemorySegment.ofArray(new byte[] {1})));
    net().until(() -> b.heard(SinkEvent.Received.class).size() > before, "the endpoint works on");
    assertThat(endpoint.trySend(MemorySegment.ofArray(new byte[0]))).isEqualTo(PostResult.POSTED);
  }
}
