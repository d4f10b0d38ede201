// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.shm.ffm.Libc;
import io.weft.transport.Completion;
import io.weft.transport.PeerMemory;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.ring.MessageBuffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// One side's view of two processes that have mapped each other's memory.
final class SharedLink implements ShmInbound.RingListener {

  private final ShmMemory home;
  private final ShmEndpoint endpoint;
  private final MemorySegment link;
  private final MemorySegment peerControl;
  private final long peerIncarnation;
  private final PeerRegions regions;
  private final AccessTracker.Visitor visitor;
  private final RingReader reader;
  private final ShmInbound inbound;
  private final ShmOutbound outbound;
  private long counted;

  SharedLink(
      ShmMemory home, MemoryNegotiation negotiation, MessageBuffer messages, ShmEndpoint endpoint) {
    this.home = home;
    this.endpoint = endpoint;
    link = negotiation.link();
    peerControl = negotiation.peerControl();
    ShmGreeting.Hello peer = negotiation.peer();
    peerIncarnation = peer.incarnation();
    regions =
        new PeerRegions(
            peerControl, negotiation.peerLink(), peer.process(), ShmMemory.prefix(peerIncarnation));
    visitor =
        new AccessTracker.Visitor(link, peer.process(), ProcessDomain.startTicks(peer.process()));
    home.accessTracker().add(visitor);
    OpQueue waiting = new OpQueue(ShmOutbound.MAX_IN_FLIGHT);
    reader = new RingReader(link);
    inbound = new ShmInbound(reader, home.table(), waiting, messages, this);
    outbound =
        new ShmOutbound(
            new RingWriter(negotiation.peerLink()),
            regions,
            home.table(),
            waiting,
            "rank " + endpoint.node());
  }

  /// Implements `Endpoint.trySend`.
  ///
  /// Hot path.
  PostResult send(MemorySegment message) {
    if (message.byteSize() > ShmTransport.MAX_MESSAGE_BYTES) {
      throw new IllegalArgumentException(
          "message of "
              + message.byteSize()
              + " bytes to rank "
              + endpoint.node()
              + "; at most "
              + ShmTransport.MAX_MESSAGE_BYTES
              + " fit, write larger ones to the peer's memory");
    }
    try {
      if (!outbound.message(message)) {
        return PostResult.BACK_PRESSURED;
      }
      announce();
      return PostResult.POSTED;
    } catch (ShmFault e) {
      endpoint.faultSoon(e);
      return PostResult.BACK_PRESSURED;
    }
  }

  /// Implements `Endpoint.tryWrite` and `tryRead`.
  ///
  /// Hot path.
  PostResult post(
      ShmOperation.OperationKind kind,
      LocalRegion region,
      long offset,
      RemoteSlice remote,
      int immediate,
      Completion done) {
    region.post();
    ShmOperation op = outbound.post(kind);
    if (op == null) {
      region.settle();
      return PostResult.BACK_PRESSURED;
    }
    op.region = region;
    op.offset = offset;
    op.bytes = remote.bytes();
    op.key = remote.region().key();
    op.remoteOffset = remote.offset();
    op.immediate = immediate;
    op.done = done;
    if (remote.region().incarnation() != peerIncarnation) {
      outbound.refuse(
          op,
          "the region is of another incarnation of its transport; ask the peer for its present"
              + " regions");
    }
    try {
      outbound.start(op);
      announce();
    } catch (ShmFault e) {
      endpoint.faultSoon(e);
    }
    return PostResult.POSTED;
  }

  /// Implements `Endpoint.map`.
  @Nullable PeerMemory map(RemoteRegion region) {
    return region.incarnation() == peerIncarnation ? regions.find(region.key()) : null;
  }

  /// Wakes the peer if it waits.
  ///
  /// Hot path.
  private void ring() {
    if (Doorbell.ring(peerControl)) {
      endpoint.wakeOverTcp();
    }
  }

  /// Wakes the peer if frames were published to its memory.
  private void announce() {
    if (outbound.takePublished()) {
      ring();
    }
    long sent = outbound.bytesSent();
    endpoint.countSent(sent - counted);
    counted = sent;
  }

  /// Runs one duty cycle; returns the amount of work.
  ///
  /// Hot path.
  int poll() throws ShmFault {
    int work = receive();
    if (endpoint.isOpen() && outbound.advance()) {
      work++;
    }
    if (endpoint.isOpen()) {
      announce();
    }
    return work;
  }

  /// Receives the arrived frames.
  ///
  /// Hot path.
  int receive() throws ShmFault {
    int work = inbound.receive();
    if (work > 0 && endpoint.isOpen() && reader.isRoomWanted()) {
      ring();
    }
    return work;
  }

  boolean hasWork() throws ShmFault {
    return reader.hasArrived() || outbound.hasWork();
  }

  void prepareToWait() {
    outbound.prepareToWait();
  }

  long bytesReceived() {
    return inbound.bytes();
  }

  /// Tells the peer that a local extent was freed; returns false if the frame does not fit.
  boolean tellGone(int extent) {
    try {
      boolean told = outbound.gone(extent);
      announce();
      return told;
    } catch (ShmFault e) {
      endpoint.faultSoon(e);
      return true;
    }
  }

  @Override
  public boolean isOpen() {
    return endpoint.isOpen();
  }

  @Override
  public void message(MemorySegment message) {
    endpoint.message(message);
  }

  @Override
  public void notified(int immediate) {
    endpoint.notified(immediate);
  }

  @Override
  public ShmOperation readWanted() throws ShmFault {
    ShmOperation asked = outbound.serve();
    if (asked == null) {
      throw new ShmFault("more reads than may be outstanding");
    }
    return asked;
  }

  @Override
  public void readDone(ShmOperation read) {
    outbound.finishRead(read, null);
  }

  @Override
  public void readRefused(ShmOperation read, int reason) {
    String why =
        reason == ShmFrame.OUT_OF_BOUNDS ? "it lies outside the region" : MappedCopy.CLOSED;
    outbound.finishRead(
        read,
        new TransportException.Refused(
            "read of "
                + read.bytes
                + " bytes at rank "
                + endpoint.node()
                + " refused by the peer: "
                + why,
            null));
  }

  @Override
  public void extentGone(int number) {
    regions.forget(number);
  }

  /// Ends the link: the peer begins no more visits, and posted work fails.
  void end(TransportException cause) {
    home.accessTracker().end(visitor);
    // The peer may still write there, but the memory can be released.
    discard(ControlLayout.RING, ControlLayout.RING_BYTES);
    discard(ControlLayout.STAGING, ControlLayout.LINK_BYTES - ControlLayout.STAGING);
    outbound.fail(cause);
  }

  private void discard(long offset, long bytes) {
    var unused = Libc.discard(link.address() + offset, bytes);
  }
}
