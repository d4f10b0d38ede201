// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.verbs.device.VerbsException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The way to one peer: a queue pair, beside a TCP connection by which the two have met and which
/// tells when the peer is gone.
final class VerbsEndpoint implements Endpoint, Inbound.Listener {

  private final VerbsTransport transport;
  private final Endpoint lower;
  private final String peer;
  private final boolean dialed;
  private final int number;
  private @Nullable Link link;
  private @Nullable Outbound outbound;
  private @Nullable Inbound inbound;
  private long metNanos;
  private long peerIncarnation;
  private boolean heard;
  private boolean agreed;
  private boolean connected;
  private boolean closed;
  private long bytesReceived;
  private long bytesSent;

  /// Over this connection, which may still be on its way.
  ///
  /// @param number by which completions name its queue pair
  VerbsEndpoint(VerbsTransport transport, Endpoint lower, String peer, boolean dialed, int number) {
    this.transport = transport;
    this.lower = lower;
    this.peer = peer;
    this.dialed = dialed;
    this.number = number;
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

  @Nullable Link link() {
    return link;
  }

  boolean isConnected() {
    return connected;
  }

  // Making the connection.

  /// The TCP connection is proved: makes a queue pair and tells the peer where it is.
  void meet(long nowNanos) {
    metNanos = Math.max(nowNanos, 1);
    try {
      Link made = transport.link(number);
      Outbound out = new Outbound(made, transport.pins());
      link = made;
      outbound = out;
      inbound = new Inbound(made, out, transport.pins().table(), transport.messages(), this);
      say(made.hello(transport.pins().table().incarnation()));
    } catch (VerbsException | IllegalStateException e) {
      refuse(String.valueOf(e.getMessage()), e);
    }
  }

  private void refuse(String why, @Nullable Throwable cause) {
    say(new Greeting.Verdict(why));
    lost("its queue pair cannot be connected: " + why, cause);
  }

  private void say(Greeting greeting) {
    if (!closed && lower.trySend(greeting.encode()) != PostResult.POSTED) {
      lost("the connection took no greeting", null);
    }
    transport.flushSoon();
  }

  /// Gives up if the peer does not answer in time.
  void tick(long nowNanos, long limitNanos) {
    if (!connected && !closed && metNanos != 0 && nowNanos - metNanos > limitNanos) {
      lost(
          "the peer did not connect its queue pair within " + limitNanos / 1_000_000 + " ms", null);
    }
  }

  /// A message came over TCP.
  void lowerMessage(MemorySegment message) {
    try {
      switch (Greeting.decode(message)) {
        case Greeting.Hello hello -> hello(hello);
        case Greeting.Verdict(String problem) -> verdict(problem);
        case Greeting.Farewell(String reason) ->
            lost("it ended the connection because it received " + reason, null);
      }
    } catch (VerbsFault e) {
      fault(e);
    }
  }

  private void hello(Greeting.Hello hello) throws VerbsFault {
    Link open = link;
    if (heard || open == null) {
      throw new VerbsFault("a greeting out of turn");
    }
    heard = true;
    peerIncarnation = hello.incarnation();
    try {
      open.connect(hello);
      say(new Greeting.Verdict(""));
    } catch (VerbsException | IllegalStateException e) {
      refuse(String.valueOf(e.getMessage()), e);
    }
  }

  private void verdict(String problem) throws VerbsFault {
    if (!problem.isEmpty()) {
      lost("its queue pair cannot be connected; the peer says: " + problem, null);
      return;
    }
    if (agreed || !heard) {
      throw new VerbsFault("a verdict out of turn");
    }
    agreed = true;
    connect();
  }

  private void connect() {
    if (!connected && !closed) {
      connected = true;
      transport.connected(this);
    }
  }

  /// A write came over TCP.
  void lowerNotify() {
    fault(new VerbsFault("a write over TCP"));
  }

  /// The TCP connection is gone; what the peer had sent before is taken already.
  void lowerFailure(TransportException cause) {
    String said = String.valueOf(cause.getMessage()).replace("at tcp:", "at verbs:");
    fail(new TransportException.EndpointLost(said, cause));
  }

  // The verbs.

  @Override
  public PostResult trySend(MemorySegment message) {
    if (message.byteSize() > VerbsTransport.MAX_MESSAGE_BYTES) {
      throw new IllegalArgumentException(
          "a message of "
              + message.byteSize()
              + " bytes, at most "
              + VerbsTransport.MAX_MESSAGE_BYTES
              + " are allowed");
    }
    Outbound out = outbound;
    if (closed) {
      return PostResult.CLOSED;
    }
    if (!connected || out == null) {
      return PostResult.BACK_PRESSURED;
    }
    try {
      return out.send(message) ? PostResult.POSTED : PostResult.BACK_PRESSURED;
    } catch (VerbsException | IllegalStateException e) {
      failed(e);
      return PostResult.BACK_PRESSURED;
    }
  }

  @Override
  public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
    return post(Op.Kind.WRITE, from, into, immediate, done);
  }

  @Override
  public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
    return post(Op.Kind.READ, into, from, 0, done);
  }

  private PostResult post(
      Op.Kind kind, Slice own, RemoteSlice remote, int immediate, Completion done) {
    if (own.bytes() != remote.bytes()) {
      throw new IllegalArgumentException(
          "slice of " + own.bytes() + " bytes, remote slice of " + remote.bytes() + " bytes");
    }
    LocalRegion region = transport.pins().table().own(own);
    Outbound out = outbound;
    if (closed) {
      return PostResult.CLOSED;
    }
    if (!connected || out == null) {
      return PostResult.BACK_PRESSURED;
    }
    TransportException refusal =
        remote.region().incarnation() == peerIncarnation ? null : refused(kind, "another one");
    PostResult result = out.post(kind, region, own.offset(), remote, immediate, done, refusal);
    push(out);
    return result;
  }

  private TransportException refused(Op.Kind kind, String whose) {
    return new TransportException.Refused(
        (kind == Op.Kind.WRITE ? "write to " : "read of ")
            + "a region of "
            + name()
            + " was refused: it is closed, too short, or of "
            + whose
            + " of its transports; export the region again",
        null);
  }

  private int push(Outbound out) {
    try {
      return out.push();
    } catch (VerbsException | IllegalStateException e) {
      failed(e);
      return 0;
    }
  }

  /// Posting has failed, which the caller cannot be told now.
  private void failed(RuntimeException e) {
    Link open = link;
    if (open != null) {
      open.fail(String.valueOf(e.getMessage()));
    }
  }

  // Progress.

  /// One turn; returns the amount of work.
  ///
  /// Hot path.
  int turn() {
    Link open = link;
    Outbound out = outbound;
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

  /// Gives the device what there is room for.
  void flush() {
    Outbound out = outbound;
    if (!closed && connected && out != null) {
      int unused = push(out);
    }
  }

  /// A receive has completed with this immediate value.
  ///
  /// Hot path.
  void received(int immediate) {
    Inbound in = inbound;
    if (closed || in == null) {
      return;
    }
    if (!connected) {
      // The peer sends only when it has heard that we are ready, and is ready itself.
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
    Outbound out = outbound;
    if (out != null) {
      out.answered(isRefused ? refused(Op.Kind.READ, "an earlier one") : null);
    }
  }

  @Override
  public long bytesReceived() {
    Inbound in = inbound;
    return closed || in == null
        ? Math.max(bytesReceived, lower.bytesReceived())
        : lower.bytesReceived() + in.bytes();
  }

  @Override
  public long bytesSent() {
    Link open = link;
    return closed || open == null
        ? Math.max(bytesSent, lower.bytesSent())
        : lower.bytesSent() + open.bytesSent();
  }

  // The end.

  private void fault(VerbsFault fault) {
    if (!closed) {
      transport.warn("ended the connection to " + name() + ": received " + fault.getMessage());
      say(new Greeting.Farewell(String.valueOf(fault.getMessage())));
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
    return "node " + node() + " at " + peer;
  }

  /// Ends this endpoint: posted work fails, then the sink hears it.
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
    Link open = link;
    if (open != null && connected) {
      // What was sent before the end arrives before the end.
      transport.drain(open);
    }
    end(
        new TransportException.EndpointLost(
            "endpoint to " + name() + " is lost: closed by this side", null));
    lower.close();
  }

  private void end(TransportException cause) {
    bytesReceived = bytesReceived();
    bytesSent = bytesSent();
    transport.forget(this);
    closed = true;
    Link open = link;
    if (open != null) {
      try {
        open.end();
      } catch (VerbsException e) {
        transport.warn("queue pair to " + name() + ": " + e.getMessage());
      }
      transport.unlink();
    }
    Outbound out = outbound;
    if (out != null) {
      out.end(cause);
    }
  }
}
