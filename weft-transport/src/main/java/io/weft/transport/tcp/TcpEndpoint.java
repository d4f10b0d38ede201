// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.Address;
import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SelectionKey;
import org.jspecify.annotations.Nullable;

/// An authenticated connection, or one that is being established.
final class TcpEndpoint extends Pollable implements Endpoint, TcpInbound.FrameListener {

  /// The length from which the sink sees a message in the receive buffer. For a shorter message, a
  /// copy with a cached view costs less than creating a view.
  private static final int LEND_BYTES = 4096;

  private final TcpTransport transport;
  private final int node;
  private final Address peer;
  private @Nullable TcpConnection connection;
  private long bytesReceived;
  private long bytesSent;
  private boolean closed;

  /// The failure of sending during a post; the next flush ends the endpoint.
  private @Nullable IOException aheadFailure;

  TcpEndpoint(TcpTransport transport, int node, Address peer) {
    this.transport = transport;
    this.node = node;
    this.peer = peer;
  }

  /// Opens the endpoint after the handshake; `key` is the socket's registration.
  void open(SocketStream stream, SelectionKey key, long peerIncarnation) {
    connection = TcpConnection.of(stream, key, peerIncarnation, transport, this);
  }

  @Override
  public int node() {
    return node;
  }

  @Override
  public PostResult trySend(MemorySegment message) {
    if (message.byteSize() > TcpTransport.MAX_MESSAGE_BYTES) {
      throw new IllegalArgumentException(
          "message of "
              + message.byteSize()
              + " bytes to rank "
              + node
              + "; at most "
              + TcpTransport.MAX_MESSAGE_BYTES
              + " fit, write larger ones to the peer's memory");
    }
    TcpConnection open = connection;
    if (closed) {
      return PostResult.CLOSED;
    }
    if (open == null) {
      return PostResult.BACK_PRESSURED;
    }
    if (aheadFailure == null && open.outbound().shouldLeave()) {
      sendAhead(open);
    }
    return open.outbound().message(message) ? PostResult.POSTED : PostResult.BACK_PRESSURED;
  }

  /// Sends staged messages while the caller posts more. A failure does not end the endpoint within
  /// the posting call, but in the next flush.
  ///
  /// Hot path.
  private void sendAhead(TcpConnection open) {
    try {
      open.send();
    } catch (IOException e) {
      aheadFailure = e;
    }
    var unused = countSent(open);
  }

  @Override
  public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
    checkLengths(from, into);
    LocalRegion region = transport.table().own(from);
    TcpConnection open = connection;
    if (closed) {
      return PostResult.CLOSED;
    }
    if (open == null) {
      return PostResult.BACK_PRESSURED;
    }
    if (into.region().incarnation() != open.peerIncarnation()) {
      return refused(open, "write", into, done);
    }
    region.post();
    boolean posted =
        open.outbound()
            .write(
                region,
                from.offset(),
                from.bytes(),
                into.region().key(),
                into.offset(),
                immediate,
                done);
    if (!posted) {
      region.settle();
    }
    return posted ? PostResult.POSTED : PostResult.BACK_PRESSURED;
  }

  @Override
  public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
    checkLengths(into, from);
    LocalRegion region = transport.table().ownTarget(into);
    TcpConnection open = connection;
    if (closed) {
      return PostResult.CLOSED;
    }
    if (open == null) {
      return PostResult.BACK_PRESSURED;
    }
    if (from.region().incarnation() != open.peerIncarnation()) {
      return refused(open, "read", from, done);
    }
    if (open.reads().isFull() || !open.outbound().canRead()) {
      return PostResult.BACK_PRESSURED;
    }
    region.post();
    int context = open.reads().next();
    if (!open.outbound().read(context, from.region().key(), from.offset(), from.bytes())) {
      region.settle();
      return PostResult.BACK_PRESSURED;
    }
    open.reads().add(region, into.offset(), into.bytes(), done);
    open.outbound().countOwn(1);
    return PostResult.POSTED;
  }

  private PostResult refused(TcpConnection open, String verb, RemoteSlice at, Completion done) {
    TransportException error =
        new TransportException.Refused(
            verb
                + " of "
                + at.bytes()
                + " bytes at rank "
                + node
                + " refused: the region is of another incarnation of its transport; ask the peer"
                + " for its present regions",
            null);
    return open.outbound().refuse(done, error) ? PostResult.POSTED : PostResult.BACK_PRESSURED;
  }

  private static void checkLengths(Slice own, RemoteSlice remote) {
    if (own.bytes() != remote.bytes()) {
      throw new IllegalArgumentException(
          "slice of " + own.bytes() + " bytes, remote slice of " + remote.bytes() + " bytes");
    }
  }

  /// Receives available data; returns the amount of work.
  ///
  /// Hot path.
  int receive() {
    TcpConnection open = connection;
    if (closed || open == null) {
      return 0;
    }
    try {
      long got = open.inbound().receive(open.stream());
      if (got < 0 && !closed) {
        lost("the peer or the network closed the connection", null);
      }
      bytesReceived += Math.max(got, 0);
      return got == 0 ? 0 : 1;
    } catch (ProtocolFault fault) {
      fault(open, fault);
    } catch (IOException e) {
      lost("receiving failed: " + e.getMessage(), e);
    }
    return 1;
  }

  /// Returns whether `flush` could make progress before the kernel reports the socket writable.
  boolean wantsFlush() {
    TcpConnection open = connection;
    return !closed
        && open != null
        && (open.outbound().isPending() || !open.stream().isFlushed())
        && !open.outbound().isBlocked();
  }

  /// Sends pending data; returns the amount of work.
  ///
  /// Hot path.
  int flush() {
    TcpConnection open = connection;
    if (closed || open == null) {
      return 0;
    }
    try {
      if (aheadFailure != null) {
        throw aheadFailure;
      }
      open.send();
      return countSent(open) == 0 ? 0 : 1;
    } catch (ProtocolFault fault) {
      fault(open, fault);
    } catch (IOException e) {
      lost("sending failed: " + e.getMessage(), e);
    }
    return 1;
  }

  private long countSent(TcpConnection open) {
    long bytes = open.stream().takeSent();
    bytesSent += bytes;
    transport.countSent(bytes);
    return bytes;
  }

  @Override
  public long bytesReceived() {
    return bytesReceived;
  }

  @Override
  public long bytesSent() {
    return bytesSent;
  }

  /// Returns whether `receive` would find data that the selector cannot report.
  boolean isReadable() {
    TcpConnection open = connection;
    return !closed && open != null && open.stream().isReadable();
  }

  /// Clears the blocked state, because without the selector every poll tries the socket itself.
  void unblock() {
    TcpConnection open = connection;
    if (open != null) {
      open.outbound().unblock();
    }
  }

  /// Makes the selector report a blocked socket when it is writable.
  void watchWritable() {
    TcpConnection open = connection;
    if (!closed && open != null && open.outbound().isBlocked()) {
      open.key().interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    }
  }

  @Override
  int ready(long nowNanos) {
    TcpConnection open = connection;
    if (closed || open == null) {
      return 0;
    }
    open.outbound().unblock();
    if (open.key().interestOps() != SelectionKey.OP_READ) {
      open.key().interestOps(SelectionKey.OP_READ);
    }
    return receive();
  }

  @Override
  public boolean isOpen() {
    return !closed;
  }

  @Override
  public void message(MemorySegment from, long offset, int bytes) {
    MemorySegment message =
        bytes < LEND_BYTES
            ? transport.messages().copy(from, offset, bytes)
            : from.asSlice(offset, bytes).asReadOnly();
    transport.sink().onMessage(this, message);
  }

  @Override
  public void notified(int immediate) {
    transport.sink().onNotify(this, immediate);
  }

  @Override
  public void readWanted(int key, int context, long offset, long length) throws ProtocolFault {
    TcpConnection open = connection;
    if (open != null && !open.outbound().serve(key, context, offset, length)) {
      throw new ProtocolFault("more reads than may be outstanding");
    }
  }

  @Override
  public void readDone(PostedReads.Read read) {
    finish(read, null);
  }

  @Override
  public void readRefused(PostedReads.Read read, int reason) {
    String why =
        reason == TcpFrame.OUT_OF_BOUNDS
            ? "it lies outside the region"
            : "the region is closed or of another incarnation; ask the peer for its present"
                + " regions";
    finish(
        read,
        new TransportException.Refused(
            "read of " + read.bytes() + " bytes at rank " + node + " refused by the peer: " + why,
            null));
  }

  private void finish(PostedReads.Read read, @Nullable TransportException error) {
    TcpConnection open = connection;
    if (open != null) {
      open.outbound().countOwn(-1);
      open.reads().finish(read, error);
    }
  }

  @Override
  public void ended(String why) {
    lost(why, null);
  }

  private void fault(TcpConnection open, ProtocolFault fault) {
    transport
        .log()
        .warning("ended the connection to " + name() + ": received " + fault.getMessage());
    if (!closed) {
      leave(open, TcpFrame.FAULT, String.valueOf(fault.getMessage()));
      fail(exception("we ended the connection because we received " + fault.getMessage(), fault));
    }
  }

  private void lost(String why, @Nullable Throwable cause) {
    fail(exception(why, cause));
  }

  TransportException exception(String why, @Nullable Throwable cause) {
    return new TransportException.EndpointLost("endpoint to " + name() + " is lost: " + why, cause);
  }

  private String name() {
    return "rank " + node + " at " + peer;
  }

  /// Ends this endpoint: posted work fails, then the sink is notified.
  void fail(TransportException cause) {
    if (!closed) {
      end(cause);
      transport.sink().onFailure(this, cause);
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    TcpConnection open = connection;
    if (open != null) {
      try {
        open.send();
      } catch (IOException e) {
        transport.log().debug("last flush to " + name() + ": " + e.getMessage());
      }
      if (closed) {
        return;
      }
      leave(open, TcpFrame.BYE, "");
    }
    end(exception("closed by this side", null));
  }

  private void end(TransportException cause) {
    closed = true;
    TcpConnection open = connection;
    if (open != null) {
      var unused = countSent(open);
      transport.abandon(open.stream(), open.key());
      open.outbound().fail(cause);
      open.reads().fail(cause);
    }
    transport.forget(this);
  }

  /// Tries to tell the peer the reason, which is possible only if the stream is between two frames.
  private void leave(TcpConnection open, byte kind, String text) {
    try {
      if (open.outbound().last(kind, text)) {
        open.send();
      }
    } catch (IOException e) {
      transport.log().debug("last frame to " + name() + ": " + e.getMessage());
    }
  }
}
