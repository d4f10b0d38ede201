// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PeerMemory;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// The contract of mapped memory of peers, for transports with `Capabilities.directAccess`; other
/// transports must not map any memory.
public abstract class SharingContract extends MemoryContract {

  private static final MemorySegment ONE_BYTE = MemorySegment.ofArray(new byte[] {1});

  /// Constructor for subclasses.
  protected SharingContract() {}

  @Test
  final void transportsWithoutDirectAccessMapNoMemory() {
    Node a = net().node(0);
    assumeTrue(!a.transport().capabilities().directAccess(), "it gives memory");
    Node b = net().node(1);
    assertThat(net().connect(a, b, 1).map(b.region(4096).export())).isNull();
  }

  @Test
  final void storesIntoAPeersMemoryAreVisibleWithTheNextMessage() {
    Node a = sharing();
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion theirs = b.region(100_000, new Random(1));
    byte[] before = theirs.segment().toArray(ValueLayout.JAVA_BYTE);
    PeerMemory mapped = mapped(endpoint, theirs);
    assertThat(mapped.segment().byteSize()).isEqualTo(100_000);
    assertThat(mapped.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
    assertThat(mapped.visit()).isTrue();
    assertThat(theirs.isVisited()).isTrue();
    mapped.segment().fill((byte) 7);
    mapped.leave();
    assertThat(theirs.isVisited()).isFalse();
    net().post(() -> endpoint.trySend(ONE_BYTE));
    net().until(() -> !b.heard(SinkEvent.Received.class).isEmpty(), "the message arrives");
    assertThat(theirs.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
  }

  @Test
  final void regionsInsideAllocatedMemoryAreMappedInPlace() {
    Node a = sharing();
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion whole = b.region(1 << 20, new Random(2));
    MemorySegment part = whole.segment().asSlice(4096 + 64, 70_000);
    try (MemoryRegion inside = b.transport().register(part, whole)) {
      assertThat(inside.isMappable()).isTrue();
      PeerMemory mapped = mapped(endpoint, inside);
      assertThat(mapped.segment().mismatch(part)).isEqualTo(-1);
      assertThat(mapped.visit()).isTrue();
      assertThat(inside.isVisited()).isTrue();
      mapped.segment().set(ValueLayout.JAVA_BYTE, 5, (byte) 99);
      mapped.leave();
      assertThat(part.get(ValueLayout.JAVA_BYTE, 5)).isEqualTo((byte) 99);
    }
  }

  @Test
  final void aClosedRegionIsNotVisited() {
    Node a = sharing();
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion whole = b.region(8192);
    MemoryRegion inside = b.transport().register(whole.segment().asSlice(0, 4096), whole);
    PeerMemory mapped = mapped(endpoint, inside);
    inside.close();
    assertThat(mapped.visit()).isFalse();
    assertThat(inside.isVisited()).isFalse();
    try (MemoryRegion again = b.transport().register(whole.segment().asSlice(0, 4096), whole)) {
      assertThat(mapped.visit()).as("another region in the same place").isFalse();
      PeerMemory fresh = mapped(endpoint, again);
      assertThat(fresh.visit()).isTrue();
      fresh.leave();
    }
  }

  @Test
  final void privateMemoryAndForeignKeysAreNotMapped() {
    Node a = sharing();
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    try (Arena arena = Arena.ofShared();
        MemoryRegion own = b.transport().register(arena.allocate(10_000, 64), arena)) {
      assertThat(own.isMappable()).isFalse();
      assertThat(endpoint.map(own.export())).isNull();
    }
    RemoteRegion real = b.region(4096).export();
    assertThat(
            endpoint.map(
                new RemoteRegion(real.address(), real.bytes(), real.key(), real.incarnation() + 1)))
        .isNull();
  }

  private Node sharing() {
    Node a = net().node(0);
    assumeTrue(a.transport().capabilities().directAccess(), "it gives no memory of peers");
    return a;
  }

  private static PeerMemory mapped(Endpoint endpoint, MemoryRegion region) {
    return Objects.requireNonNull(endpoint.map(region.export()), "the peer's memory");
  }
}
