// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.PeerMemory;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The way to one peer: shared memory beside a TCP connection that tells when the peer is gone, or,
/// where no memory is shared, that TCP connection.
final class ShmEndpoint implements Endpoint {

  private static final int DRAIN_TURNS = 8;

  private final ShmTransport transport;
  private final Endpoint lower;
  private final String peer;
  private final boolean dialed;
  private @Nullable MemoryNegotiation negotiation;
  private long negotiationNanos;
  private @Nullable SharedLink link;
  private boolean onlyTcp;
  private boolean closed;
  private long bytesReceived;
  private long bytesSent;

  /// Over this connection, which may still be on its way.
  ShmEndpoint(ShmTransport transport, Endpoint lower, String peer, boolean dialed) {
    this.transport = transport;
    this.lower = lower;
    this.peer = peer;
    this.dialed = dialed;
  }

  @Override
  public int node() {
    return lower.node();
  }

  Endpoint lower() {
    return lower;
  }

  boolean isShared() {
    return link != null;
  }

  boolean isOpen() {
    return !closed;
  }

  // Making the connection.

  /// The TCP connection is proved: asks whether memory is shared.
  void meet(ShmMemory home, long nowNanos) {
    MemoryNegotiation begun = new MemoryNegotiation(home);
    negotiation = begun;
    negotiationNanos = nowNanos;
    say(begun.open());
  }

  private void say(ShmGreeting greeting) {
    if (lower.trySend(greeting.encode()) != PostResult.POSTED) {
      lost("the connection took no greeting", null);
    }
    transport.sockets().flushSoon();
  }

  /// Gives up if the peer does not answer in time.
  void tick(long nowNanos, long limitNanos) {
    if (negotiation != null && !closed && nowNanos - negotiationNanos > limitNanos) {
      lost(
          "the peer did not say within " + limitNanos / 1_000_000 + " ms whether it shares memory",
          null);
    }
  }

  /// A message came over TCP.
  void lowerMessage(MemorySegment message) {
    if (onlyTcp) {
      transport.sink().onMessage(this, message);
      return;
    }
    try {
      ShmGreeting greeting = ShmGreeting.decode(message);
      MemoryNegotiation open = negotiation;
      if (open != null) {
        negotiation(open, greeting);
      } else if (greeting instanceof ShmGreeting.GracefulClose(String reason)) {
        lost("it ended the connection because it received " + reason, null);
      } else if (greeting instanceof ShmGreeting.Wake) {
        transport.sockets().wakeHeard();
      } else {
        throw new ShmFault("a greeting after all was said");
      }
    } catch (ShmFault e) {
      fault(e);
    }
  }

  private void negotiation(MemoryNegotiation open, ShmGreeting greeting) throws ShmFault {
    ShmGreeting answer = open.hear(greeting);
    if (answer != null) {
      say(answer);
    }
    if (closed || open.outcome() == MemoryNegotiation.NegotiationResult.UNDECIDED) {
      return;
    }
    negotiation = null;
    if (open.outcome() == MemoryNegotiation.NegotiationResult.SHARED) {
      link = new SharedLink(transport.home(), open, transport.messages(), this);
    } else {
      onlyTcp = true;
    }
    transport.connected(this, open);
  }

  /// A write came over TCP.
  void lowerNotify(int immediate) {
    if (onlyTcp) {
      transport.sink().onNotify(this, immediate);
    } else {
      fault(new ShmFault("a write over TCP"));
    }
  }

  /// The TCP connection is gone. What the peer has put into memory before is taken first.
  void lowerFailure(TransportException cause) {
    SharedLink open = link;
    try {
      // As much as a ring can hold; a peer that is gone adds nothing.
      for (int i = 0; i < DRAIN_TURNS && !closed && open != null; i++) {
        open.receive();
      }
    } catch (ShmFault e) {
      transport.warn("last frames of " + name() + ": received " + e.getMessage());
    }
    String said = String.valueOf(cause.getMessage()).replace("at tcp:", "at shm:");
    fail(new TransportException.EndpointLost(said, cause));
  }

  // The verbs.

  @Override
  public PostResult trySend(MemorySegment message) {
    SharedLink open = link;
    if (closed) {
      return PostResult.CLOSED;
    }
    if (open == null) {
      return onlyTcp ? lower.trySend(message) : PostResult.BACK_PRESSURED;
    }
    return open.send(message);
  }

  @Override
  public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
    return onlyTcp && !closed
        ? lower.tryWrite(from, into, immediate, done)
        : post(ShmOperation.OperationKind.WRITE, from, into, immediate, done);
  }

  @Override
  public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
    return onlyTcp && !closed
        ? lower.tryRead(into, from, done)
        : post(ShmOperation.OperationKind.READ, into, from, 0, done);
  }

  private PostResult post(
      ShmOperation.OperationKind kind,
      Slice own,
      RemoteSlice remote,
      int immediate,
      Completion done) {
    if (own.bytes() != remote.bytes()) {
      throw new IllegalArgumentException(
          "slice of " + own.bytes() + " bytes, remote slice of " + remote.bytes() + " bytes");
    }
    RegionTable table = transport.home().table();
    LocalRegion region =
        kind == ShmOperation.OperationKind.READ ? table.ownTarget(own) : table.own(own);
    SharedLink open = link;
    if (closed) {
      return PostResult.CLOSED;
    }
    return open == null
        ? PostResult.BACK_PRESSURED
        : open.post(kind, region, own.offset(), remote, immediate, done);
  }

  @Override
  public @Nullable PeerMemory map(RemoteRegion region) {
    SharedLink open = link;
    return open == null || closed ? null : open.map(region);
  }

  /// The peer sleeps over its sockets.
  void wakeOverTcp() {
    // No room means that the peer has enough to wake up for.
    if (lower.trySend(transport.wakeMessage()) == PostResult.POSTED) {
      transport.sockets().flushSoon();
    }
  }

  /// So many more bytes have left through memory.
  void countSent(long bytes) {
    bytesSent += bytes;
    transport.countSent(bytes);
  }

  /// The peer broke the protocol, found while somebody else's call was under way.
  void faultSoon(ShmFault fault) {
    transport.faultSoon(this, fault);
  }

  // Progress.

  /// One turn; returns the amount of work.
  ///
  /// Hot path.
  int turn() {
    SharedLink open = link;
    if (open == null || closed) {
      return 0;
    }
    try {
      return open.turn();
    } catch (ShmFault e) {
      fault(e);
      return 1;
    }
  }

  /// Whether a turn would find something.
  boolean hasWork() {
    SharedLink open = link;
    try {
      return open != null && !closed && open.hasWork();
    } catch (ShmFault e) {
      faultSoon(e);
      return true;
    }
  }

  void prepareToWait() {
    SharedLink open = link;
    if (open != null && !closed) {
      open.prepareToWait();
    }
  }

  /// Tells the peer that an extent of ours is gone; false if there is no room.
  boolean tellGone(int extent) {
    SharedLink open = link;
    return open == null || closed || open.tellGone(extent);
  }

  /// A message came through memory.
  void message(MemorySegment message) {
    transport.sink().onMessage(this, message);
  }

  /// A write came through memory.
  void notified(int immediate) {
    transport.sink().onNotify(this, immediate);
  }

  @Override
  public long bytesReceived() {
    SharedLink open = link;
    return closed || open == null
        ? Math.max(bytesReceived, lower.bytesReceived())
        : lower.bytesReceived() + open.bytesReceived();
  }

  @Override
  public long bytesSent() {
    return lower.bytesSent() + bytesSent;
  }

  // The end.

  void fault(ShmFault fault) {
    if (!closed) {
      transport.warn("ended the connection to " + name() + ": received " + fault.getMessage());
      if (lower.trySend(new ShmGreeting.GracefulClose(String.valueOf(fault.getMessage())).encode())
          == PostResult.POSTED) {
        transport.sockets().flushSoon();
      }
      lost("we ended the connection because we received " + fault.getMessage(), fault);
    }
  }

  private void lost(String why, @Nullable Throwable cause) {
    if (!closed) {
      lower.close();
      fail(
          new TransportException.EndpointLost("endpoint to " + name() + " is lost: " + why, cause));
    }
  }

  private String name() {
    return "rank " + node() + " at " + peer;
  }

  /// Ends this endpoint: posted work fails, then the sink hears it.
  private void fail(TransportException cause) {
    if (!closed) {
      boolean known = dialed || link != null || onlyTcp;
      end(cause);
      if (known) {
        transport.sink().onFailure(this, cause);
      }
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    lower.close();
    if (!closed) {
      end(
          new TransportException.EndpointLost(
              "endpoint to " + name() + " is lost: closed by this side", null));
    }
  }

  private void end(TransportException cause) {
    bytesReceived = bytesReceived();
    closed = true;
    MemoryNegotiation open = negotiation;
    if (open != null) {
      open.close();
    }
    transport.forget(this, onlyTcp, dialed && link == null && !onlyTcp && open == null);
    SharedLink shared = link;
    if (shared != null) {
      shared.end(cause);
    }
  }
}
