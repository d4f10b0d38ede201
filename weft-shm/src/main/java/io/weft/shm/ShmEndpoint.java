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

/// An endpoint to one peer over a TCP connection. If both processes share memory, data travels
/// through it, and the TCP connection detects the loss of the peer. Otherwise the TCP connection
/// carries everything.
final class ShmEndpoint implements Endpoint {

  private static final int DRAIN_CYCLES = 8;

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

  /// Creates an endpoint over this connection, which may not be established yet.
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

  // Establishing the connection.

  /// Starts the negotiation of shared memory after the TCP connection is authenticated.
  void meet(ShmMemory home, long nowNanos) {
    MemoryNegotiation begun = new MemoryNegotiation(home);
    negotiation = begun;
    negotiationNanos = nowNanos;
    say(begun.open());
  }

  private void say(ShmGreeting greeting) {
    if (lower.trySend(greeting.encode()) != PostResult.POSTED) {
      lost("the connection had no room for a greeting", null);
    }
    transport.sockets().flushSoon();
  }

  /// Fails the endpoint if the peer does not answer in time.
  void tick(long nowNanos, long limitNanos) {
    if (negotiation != null && !closed && nowNanos - negotiationNanos > limitNanos) {
      lost(
          "the peer did not say within " + limitNanos / 1_000_000 + " ms whether it shares memory",
          null);
    }
  }

  /// Handles a message over TCP.
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
        throw new ShmFault("a greeting after the negotiation");
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

  /// Handles a write over TCP.
  void lowerNotify(int immediate) {
    if (onlyTcp) {
      transport.sink().onNotify(this, immediate);
    } else {
      fault(new ShmFault("a write over TCP"));
    }
  }

  /// Handles the loss of the TCP connection, after consuming the frames that the peer put into
  /// memory.
  void lowerFailure(TransportException cause) {
    SharedLink open = link;
    try {
      // This covers a full ring; a peer that is gone adds nothing.
      for (int i = 0; i < DRAIN_CYCLES && !closed && open != null; i++) {
        open.receive();
      }
    } catch (ShmFault e) {
      transport.warn("last frames of " + name() + ": received " + e.getMessage());
    }
    String said = String.valueOf(cause.getMessage()).replace("at tcp:", "at shm:");
    fail(new TransportException.EndpointLost(said, cause));
  }

  // Posting operations.

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

  /// Wakes a peer that sleeps in its selector.
  void wakeOverTcp() {
    // If the message does not fit, the peer already has data to wake up for.
    if (lower.trySend(transport.wakeMessage()) == PostResult.POSTED) {
      transport.sockets().flushSoon();
    }
  }

  void countSent(long bytes) {
    bytesSent += bytes;
    transport.countSent(bytes);
  }

  /// Records a protocol fault that was found during another call.
  void faultSoon(ShmFault fault) {
    transport.faultSoon(this, fault);
  }

  // Progress.

  /// Runs one duty cycle; returns the amount of work.
  ///
  /// Hot path.
  int poll() {
    SharedLink open = link;
    if (open == null || closed) {
      return 0;
    }
    try {
      return open.poll();
    } catch (ShmFault e) {
      fault(e);
      return 1;
    }
  }

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

  /// Tells the peer that a local extent was freed; returns false if the frame does not fit.
  boolean tellGone(int extent) {
    SharedLink open = link;
    return open == null || closed || open.tellGone(extent);
  }

  void message(MemorySegment message) {
    transport.sink().onMessage(this, message);
  }

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

  /// Ends this endpoint: posted work fails, then the sink is notified.
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
