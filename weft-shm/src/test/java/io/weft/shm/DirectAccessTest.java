// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PeerMemory;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DirectAccessTest {

  private Peer a;
  private Peer b;
  private Endpoint endpoint;

  @BeforeEach
  void connect() throws IOException {
    a = Peer.here(0);
    b = Peer.here(1);
    endpoint = Peer.connect(a, b, 1);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
  }

  @Test
  void storesIntoAMappedRegionReachThePeer() {
    MemoryRegion short1 = b.region(5000);
    MemoryRegion long1 = b.region(3 << 20);
    for (MemoryRegion region : new MemoryRegion[] {short1, long1}) {
      PeerMemory mapped = map(region.export());
      assertThat(mapped.segment().byteSize()).isEqualTo(region.segment().byteSize());
      assertThat(mapped.segment().address()).isNotEqualTo(region.segment().address());
      assertThat(mapped.visit()).isTrue();
      mapped.segment().set(ValueLayout.JAVA_INT, 4996, 77);
      mapped.leave();
      assertThat(region.segment().get(ValueLayout.JAVA_INT, 4996)).isEqualTo(77);
      assertThat(endpoint.map(region.export())).isSameAs(mapped);
    }
  }

  @Test
  void memoryRegisteredInsideAnAllocationIsMapped() {
    MemoryRegion whole = b.region(2 << 20);
    MemorySegment part = whole.segment().asSlice(12_345 * 4, 1000);
    try (MemoryRegion region = b.transport.register(part, whole)) {
      PeerMemory mapped = map(region.export());
      part.set(ValueLayout.JAVA_INT, 8, 9);
      assertThat(mapped.segment().get(ValueLayout.JAVA_INT, 8)).isEqualTo(9);
      assertThat(mapped.segment().byteSize()).isEqualTo(1000);
    }
  }

  @Test
  void unsharedMemoryIsWrittenAndReadThroughTheRing() {
    int bytes = (3 << 20) + 17;
    try (Arena arena = Arena.ofShared()) {
      MemorySegment theirs = arena.allocate(bytes);
      MemoryRegion region = b.transport.register(theirs, arena);
      assertThat(endpoint.map(region.export())).isNull();
      MemoryRegion from = a.region(bytes);
      MemoryRegion back = a.region(bytes);
      for (long i = 0; i < bytes; i++) {
        from.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 >> 3));
      }
      Peer.Done written = new Peer.Done();
      Peer.post(
          () ->
              endpoint.tryWrite(
                  from.slice(0, bytes), new RemoteSlice(region.export(), 0, bytes), 5, written),
          a,
          b);
      Peer.until("written", () -> written.ended && b.notified.contains(5), a, b);
      assertThat(theirs.mismatch(from.segment())).isEqualTo(-1);
      Peer.Done read = new Peer.Done();
      Peer.post(
          () ->
              endpoint.tryRead(
                  back.slice(0, bytes), new RemoteSlice(region.export(), 0, bytes), read),
          a,
          b);
      Peer.until("read", () -> read.ended, a, b);
      assertThat(read.failure).isNull();
      assertThat(back.segment().mismatch(from.segment())).isEqualTo(-1);
      region.close();
    }
  }

  @Test
  void aReadIntoSharedMemoryBypassesStaging() {
    int bytes = (9 << 20) + 17;
    MemoryRegion shared = a.region(bytes + 64);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment theirs = arena.allocate(bytes);
      MemoryRegion region = b.transport.register(theirs, arena);
      MemoryRegion unshared = a.transport.register(arena.allocate(bytes + 64), arena);
      for (long i = 0; i < bytes; i++) {
        theirs.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 29 >> 4));
      }
      assertThat(received(shared.slice(64, bytes), region)).as("one frame").isEqualTo(bytes + 32);
      assertThat(shared.segment().asSlice(64).mismatch(theirs)).isEqualTo(-1);
      assertThat(received(unshared.slice(64, bytes), region))
          .as("staged")
          .isGreaterThan(bytes + 64);
      assertThat(unshared.segment().asSlice(64).mismatch(theirs)).isEqualTo(-1);
      region.close();
      unshared.close();
    }
  }

  /// Returns the number of bytes received during a read of `from`.
  private long received(Slice into, MemoryRegion from) {
    long before = endpoint.bytesReceived();
    Peer.Done read = new Peer.Done();
    Peer.post(
        () -> endpoint.tryRead(into, new RemoteSlice(from.export(), 0, into.bytes()), read), a, b);
    Peer.until("read", () -> read.ended, a, b);
    assertThat(read.failure).isNull();
    return endpoint.bytesReceived() - before;
  }

  @Test
  void aClosedRegionCannotBeVisited() {
    MemoryRegion region = b.region(100);
    RemoteRegion remote = region.export();
    PeerMemory mapped = map(remote);
    region.close();
    assertThat(mapped.visit()).isFalse();
    assertThat(region.isVisited()).isFalse();
    assertThat(
            endpoint.map(new RemoteRegion(0, 100, remote.key() + (7 << 16), remote.incarnation())))
        .isNull();
  }

  @Test
  void visitedMemoryIsNotReusedUntilThePeerLeaves() {
    MemoryRegion region = b.region(100);
    PeerMemory mapped = map(region.export());
    long address = region.segment().address();
    assertThat(mapped.visit()).isTrue();
    assertThat(region.isVisited()).isTrue();
    region.close();
    assertThat(region.isVisited()).isTrue();
    for (int i = 0; i < 20; i++) {
      assertThat(b.region(100).segment().address()).isNotEqualTo(address);
    }
    mapped.segment().set(ValueLayout.JAVA_INT, 0, -1);
    mapped.leave();
    assertThat(region.isVisited()).isFalse();
    MemoryRegion next = b.region(100);
    assertThat(next.segment().address()).isEqualTo(address);
    assertThat(next.segment().get(ValueLayout.JAVA_INT, 0)).isZero();
  }

  @Test
  void aVisitorIsStillCountedAfterItsEndpointCloses() {
    MemoryRegion region = b.region(100);
    PeerMemory mapped = map(region.export());
    assertThat(mapped.visit()).isTrue();
    b.to(0).close();
    assertThat(region.isVisited()).isTrue();
    mapped.leave();
    assertThat(region.isVisited()).isFalse();
    assertThat(mapped.visit()).isFalse();
  }

  @Test
  void segmentsOfClosedRegionsAreForgotten() {
    for (int i = 0; i < 20; i++) {
      MemoryRegion region = b.transport.allocate(2 << 20);
      PeerMemory mapped = map(region.export());
      region.close();
      assertThat(mapped.visit()).isFalse();
      b.transport.poll(System.nanoTime());
      a.transport.poll(System.nanoTime());
    }
    assertThat(a.failures).isEmpty();
  }

  private PeerMemory map(RemoteRegion region) {
    PeerMemory mapped = endpoint.map(region);
    assertThat(mapped).isNotNull();
    return mapped;
  }
}
