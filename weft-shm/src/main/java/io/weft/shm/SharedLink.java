// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.shm.ffm.Libc;
import io.weft.transport.PeerMemory;
import io.weft.transport.TransportException;
import io.weft.transport.wire.MessageBuffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Two processes that have mapped each other's memory, seen from one of them.
final class SharedLink {

  private final Home home;
  private final MemorySegment link;
  private final MemorySegment peerControl;
  private final long peerIncarnation;
  private final PeerRegions regions;
  private final Visitors.Visitor visitor;
  private final RingReader reader;
  private final RingWriter writer;
  private final Inbound inbound;
  private final Outbound outbound;

  /// What a parley has led to.
  SharedLink(
      Home home,
      Parley parley,
      MessageBuffer messages,
      String peerName,
      Inbound.Listener listener) {
    this.home = home;
    link = parley.link();
    peerControl = parley.peerControl();
    Greeting.Hello peer = parley.peer();
    peerIncarnation = peer.incarnation();
    regions =
        new PeerRegions(
            peerControl, parley.peerLink(), peer.process(), Home.prefix(peer.incarnation()));
    visitor = new Visitors.Visitor(link, peer.process(), Host.startTicks(peer.process()));
    home.visitors().add(visitor);
    OpQueue waiting = new OpQueue(Outbound.MAX_IN_FLIGHT);
    reader = new RingReader(link);
    writer = new RingWriter(parley.peerLink());
    inbound =
        new Inbound(
            reader, home.table(), waiting, messages, ShmTransport.MAX_MESSAGE_BYTES, listener);
    outbound = new Outbound(writer, regions, home.table(), waiting, peerName);
  }

  /// Of the peer's transport; its regions carry it.
  long peerIncarnation() {
    return peerIncarnation;
  }

  Outbound outbound() {
    return outbound;
  }

  Inbound inbound() {
    return inbound;
  }

  @Nullable PeerMemory map(int key) {
    return regions.find(key);
  }

  void forget(int segment) {
    regions.forget(segment);
  }

  /// Wakes the peer if it waits; true if it must be told over TCP.
  ///
  /// Hot path.
  boolean ring() {
    return Doorbell.ring(peerControl);
  }

  /// Whether the peer waits for room that was made.
  boolean isRoomWanted() {
    return reader.isRoomWanted();
  }

  /// Whether a turn would find something.
  boolean hasWork() throws ShmFault {
    return reader.hasArrived() || outbound.hasWork();
  }

  /// The endpoint is over: peers begin no visit, posted work fails.
  void end(TransportException cause) {
    home.visitors().end(visitor);
    // The peer may still put something there, but its memory need not stay.
    discard(Layout.RING, Layout.RING_BYTES);
    discard(Layout.STAGING, Layout.LINK_BYTES - Layout.STAGING);
    outbound.fail(cause);
  }

  private void discard(long offset, long bytes) {
    var unused = Libc.discard(link.address() + offset, bytes);
  }
}
