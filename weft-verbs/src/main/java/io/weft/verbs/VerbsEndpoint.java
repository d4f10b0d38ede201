// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import io.weft.verbs.device.VerbsException;
import io.weft.verbs.ring.Grants;
import io.weft.verbs.ring.VerbsFault;
import io.weft.verbs.ring.VerbsInbound;
import io.weft.verbs.ring.VerbsOutbound;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// An endpoint to one peer: a queue pair and a TCP connection, by which the two ends negotiated and
/// which detects the loss of the peer.
final class VerbsEndpoint implements Endpoint, VerbsInbound.RingListener {

  private final VerbsTransport transport;
  private final Endpoint lower;
  private final VerbsPeer peer;
  private final boolean dialed;
  private final int number;
  private final QueuePairExchange meeting;
  private @Nullable QueuePairLink link;
  private @Nullable VerbsOutbound outbound;
  private @Nullable VerbsInbound inbound;
  private @Nullable Grants grants;
  private boolean connected;
  private boolean closed;
  private long bytesReceived;
  private long bytesSent;

  /// Creates an endpoint over this connection, which may not be established yet.
  ///
  /// @param number identifies the peer in records of access to memory
  VerbsEndpoint(VerbsTransport transport, Endpoint lower, String peer, boolean dialed, int number) {
    this.transport = transport;
    this.lower = lower;
    this.peer = new VerbsPeer(lower, peer);
    this.dialed = dialed;
    this.number = number;
    meeting = new QueuePairExchange(this, lower);
  }

  @Override
  public int node() {
    return lower.node();
  }

  Endpoint lower() {
    return lower;
  }

  int number() {
    return number;
  }

  @Nullable QueuePairLink link() {
    return link;
  }

  boolean isConnected() {
    return connected;
  }

  // Establishing the connection.

  /// Creates a queue pair and sends its address, after the TCP connection is authenticated.
  void meet(long nowNanos) {
    try {
      QueuePairLink made = transport.link(this);
      VerbsOutbound out = new VerbsOutbound(made, transport.pins(), transport.oneSided());
      Grants granted = new Grants(out, number);
      link = made;
      outbound = out;
      grants = granted;
      RegionTable table = transport.pins().table();
      inbound = new VerbsInbound(made, out, granted, table, transport.messages(), this);
      meeting.begin(made, table.incarnation(), nowNanos);
    } catch (VerbsException | IllegalStateException e) {
      meeting.refuse(String.valueOf(e.getMessage()), e);
    }
  }

  /// Fails the endpoint if the peer does not answer in time.
  void tick(long nowNanos, long limitNanos) {
    if (!closed) {
      meeting.tick(nowNanos, limitNanos);
    }
  }

  /// Handles a message over TCP.
  void lowerMessage(MemorySegment message) {
    try {
      switch (VerbsGreeting.decode(message)) {
        case VerbsGreeting.Hello hello -> meeting.hello(hello);
        case VerbsGreeting.Decision(String problem) -> meeting.verdict(problem);
        case VerbsGreeting.GracefulClose(String reason) ->
            lost("it ended the connection because it received " + reason, null);
      }
    } catch (VerbsFault e) {
      fault(e);
    }
  }

  /// Reports the endpoint as usable, because both ends may send.
  void connect() {
    if (!connected && !closed) {
      connected = true;
      transport.offerAll(this);
      transport.connected(this);
    }
  }

  boolean isClosed() {
    return closed;
  }

  /// Makes the transport flush TCP soon.
  void flushLower() {
    transport.flushSoon();
  }

  /// Handles a write over TCP, which violates the protocol.
  void lowerNotify() {
    fault(new VerbsFault("a write over TCP"));
  }

  /// Handles the loss of the TCP connection; the transport has already received the peer's earlier
  /// frames. If the queue pair failed before, its failure is reported.
  void lowerFailure(TransportException cause) {
    QueuePairLink open = link;
    if (open != null && !open.failure().isEmpty()) {
      lost(open.failure(), cause);
      return;
    }
    String said = String.valueOf(cause.getMessage()).replace("at tcp:", "at verbs:");
    fail(new TransportException.EndpointLost(said, cause));
  }

  // Posting operations.

  @Override
  public PostResult trySend(MemorySegment message) {
    if (message.byteSize() > transport.maxMessageBytes()) {
      throw new IllegalArgumentException(
          "a message of "
              + message.byteSize()
              + " bytes, at most "
              + transport.maxMessageBytes()
              + " are allowed");
    }
    VerbsOutbound out = outbound;
    if (closed) {
      return PostResult.CLOSED;
    }
    if (!connected || out == null) {
      return PostResult.BACK_PRESSURED;
    }
    transport.tellMemory();
    try {
      return out.send(message) ? PostResult.POSTED : PostResult.BACK_PRESSURED;
    } catch (VerbsException | IllegalStateException e) {
      failed(e);
      return PostResult.BACK_PRESSURED;
    }
  }

  @Override
  public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
    return post(VerbsOutbound.SendKind.WRITE, from, into, immediate, done);
  }

  @Override
  public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
    return post(VerbsOutbound.SendKind.READ, into, from, 0, done);
  }

  private PostResult post(
      VerbsOutbound.SendKind kind, Slice own, RemoteSlice remote, int immediate, Completion done) {
    if (own.bytes() != remote.bytes()) {
      throw new IllegalArgumentException(
          "slice of " + own.bytes() + " bytes, remote slice of " + remote.bytes() + " bytes");
    }
    RegionTable table = transport.pins().table();
    LocalRegion region =
        kind == VerbsOutbound.SendKind.READ ? table.ownTarget(own) : table.own(own);
    VerbsOutbound out = outbound;
    if (closed) {
      return PostResult.CLOSED;
    }
    if (!connected || out == null) {
      return PostResult.BACK_PRESSURED;
    }
    TransportException refusal = refusal(kind, remote.region(), out);
    PostResult result = out.post(kind, region, own.offset(), remote, immediate, done, refusal);
    push(out);
    return result;
  }

  private @Nullable TransportException refusal(
      VerbsOutbound.SendKind kind, RemoteRegion region, VerbsOutbound out) {
    if (region.incarnation() != meeting.peerIncarnation()) {
      return peer.refused(kind, "another one");
    }
    return out.isClosed(region.key()) ? peer.refused(kind, "an earlier one") : null;
  }

  private int push(VerbsOutbound out) {
    try {
      return out.push();
    } catch (VerbsException | IllegalStateException e) {
      failed(e);
      return 0;
    }
  }

  /// Records a posting failure that cannot be reported to the caller now.
  private void failed(RuntimeException e) {
    QueuePairLink open = link;
    if (open != null) {
      open.fail(String.valueOf(e.getMessage()));
    }
  }

  // Progress.

  /// Runs one duty cycle; returns the amount of work.
  ///
  /// Hot path.
  int poll() {
    QueuePairLink open = link;
    VerbsOutbound out = outbound;
    if (closed || open == null || out == null) {
      return 0;
    }
    if (!open.failure().isEmpty()) {
      lost(open.failure(), null);
      return 1;
    }
    int work = out.settle();
    if (closed) {
      return work;
    }
    work += push(out);
    return work + (open.tell() ? 1 : 0);
  }

  /// Returns the peer's access to this side's memory; null before the connection is made and after
  /// it has ended.
  @Nullable Grants grants() {
    return connected && !closed ? grants : null;
  }

  /// Posts pending operations to the device as far as they fit.
  void flush() {
    VerbsOutbound out = outbound;
    if (!closed && connected && out != null) {
      int unused = push(out);
    }
  }

  /// Handles the completion of a receive with this immediate value.
  ///
  /// Hot path.
  void received(int immediate) {
    VerbsInbound in = inbound;
    if (closed || in == null) {
      return;
    }
    if (!connected) {
      // The peer sends only after both sides are ready.
      connect();
      if (closed) {
        return;
      }
    }
    try {
      in.take(immediate);
    } catch (VerbsFault e) {
      fault(e);
    } catch (VerbsException | IllegalStateException e) {
      failed(e);
    }
  }

  @Override
  public void message(MemorySegment message) {
    transport.sink().onMessage(this, message);
  }

  @Override
  public void notified(int immediate) {
    transport.sink().onNotify(this, immediate);
  }

  @Override
  public void readDone(boolean isRefused) {
    VerbsOutbound out = outbound;
    if (out != null) {
      out.answered(isRefused ? peer.refused(VerbsOutbound.SendKind.READ, "an earlier one") : null);
    }
  }

  @Override
  public long bytesReceived() {
    VerbsInbound in = inbound;
    return closed || in == null
        ? Math.max(bytesReceived, lower.bytesReceived())
        : lower.bytesReceived() + in.bytes();
  }

  @Override
  public long bytesSent() {
    QueuePairLink open = link;
    return closed || open == null
        ? Math.max(bytesSent, lower.bytesSent())
        : lower.bytesSent() + open.bytesSent();
  }

  // The end.

  private void fault(VerbsFault fault) {
    if (!closed) {
      transport.warn("ended the connection to " + peer + ": received " + fault.getMessage());
      meeting.gracefulClose(String.valueOf(fault.getMessage()));
      lost("we ended the connection because we received " + fault.getMessage(), fault);
    }
  }

  /// Ends this endpoint and its TCP connection for a local reason.
  void lost(String why, @Nullable Throwable cause) {
    if (!closed) {
      lower.close();
      fail(peer.lost(why, cause));
    }
  }

  /// Ends this endpoint: posted work fails, then the sink is notified.
  private void fail(TransportException cause) {
    if (!closed) {
      boolean known = dialed || connected;
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
    QueuePairLink open = link;
    if (open != null && connected) {
      // Data sent before the end must arrive before it.
      transport.drain(open);
    }
    end(peer.lost("closed by this side", null));
    lower.close();
  }

  private void end(TransportException cause) {
    bytesReceived = bytesReceived();
    bytesSent = bytesSent();
    transport.tellMemory(); // so that regions closed before this end do not wait for the peer
    transport.forget(this);
    closed = true;
    QueuePairLink open = link;
    if (open != null) {
      try {
        open.end();
      } catch (VerbsException e) {
        transport.warn("queue pair to " + peer + ": " + e.getMessage());
      }
      transport.unlink();
    }
    Grants granted = grants;
    if (granted != null) {
      // The peer's queue pair can no longer access this side's memory.
      granted.end();
    }
    VerbsOutbound out = outbound;
    if (out != null) {
      out.end(cause);
    }
  }
}
