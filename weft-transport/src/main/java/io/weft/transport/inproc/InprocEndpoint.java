// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.Address;
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

/// One end of an `InprocConnection`. The side that posts a read or write copies the bytes in its
/// own `poll`; the peer is only notified.
final class InprocEndpoint implements Endpoint {

  private static final int PARCELS_PER_CYCLE = 1024;

  private final InprocTransport transport;
  private final int node;
  private final Address peer;
  private final boolean initiating;
  private @Nullable InprocConnection line;
  private @Nullable InprocCopier copier;
  private InprocTransport peerTransport;
  private long bytesReceived;
  private boolean closed;

  InprocEndpoint(InprocTransport transport, int node, Address peer, boolean initiating) {
    this.transport = transport;
    this.node = node;
    this.peer = peer;
    this.initiating = initiating;
    this.peerTransport = transport;
  }

  /// Opens the endpoint after both sides have proved the secret.
  void open(InprocConnection answered, InprocTransport other) {
    peerTransport = other;
    copier = new InprocCopier(transport, answered, initiating, "rank " + node + " at " + peer);
    line = answered;
  }

  @Override
  public int node() {
    return node;
  }

  boolean isOpen() {
    return !closed;
  }

  @Override
  public PostResult trySend(MemorySegment message) {
    long bytes = message.byteSize();
    if (bytes > InprocTransport.MAX_MESSAGE_BYTES) {
      throw new IllegalArgumentException(
          "message of "
              + bytes
              + " bytes to rank "
              + node
              + "; at most "
              + InprocTransport.MAX_MESSAGE_BYTES
              + " fit, write larger ones to the peer's memory");
    }
    if (closed) {
      return PostResult.CLOSED;
    }
    InprocConnection open = line;
    InprocCopier worker = copier;
    InprocMessage parcel = open == null ? null : open.outgoing(initiating).reserve((int) bytes);
    if (open == null || parcel == null || worker == null) {
      return PostResult.BACK_PRESSURED;
    }
    MemorySegment.copy(message, 0, open.outgoing(initiating).staging(), parcel.at, bytes);
    parcel.kind = InprocMessage.MessageKind.MESSAGE;
    worker.publishMessages();
    peerTransport.wakeIfWaiting();
    return PostResult.POSTED;
  }

  @Override
  public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
    return post(from, into, InprocMessage.MessageKind.WRITE, immediate, done);
  }

  @Override
  public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
    return post(into, from, InprocMessage.MessageKind.SILENT, 0, done);
  }

  private PostResult post(
      Slice own,
      RemoteSlice remote,
      InprocMessage.MessageKind kind,
      int immediate,
      Completion done) {
    if (own.bytes() != remote.bytes()) {
      throw new IllegalArgumentException(
          "slice of " + own.bytes() + " bytes, remote slice of " + remote.bytes() + " bytes");
    }
    LocalRegion region =
        kind == InprocMessage.MessageKind.WRITE
            ? transport.table().own(own)
            : transport.table().ownTarget(own);
    if (closed) {
      return PostResult.CLOSED;
    }
    InprocConnection open = line;
    if (open == null) {
      return PostResult.BACK_PRESSURED;
    }
    region.post();
    InprocMessage parcel = open.outgoing(initiating).reserve(0);
    if (parcel == null) {
      region.settle();
      return PostResult.BACK_PRESSURED;
    }
    parcel.kind = kind;
    parcel.immediate = immediate;
    parcel.region = region;
    parcel.offset = own.offset();
    parcel.remaining = own.bytes();
    parcel.length = own.bytes();
    parcel.remoteKey = remote.region().key();
    parcel.remoteOffset = remote.offset();
    parcel.done = done;
    parcel.error =
        remote.region().incarnation() == open.remoteTable(initiating).incarnation()
            ? null
            : new TransportException.Refused(
                "region of another incarnation of rank "
                    + node
                    + "'s transport; ask the peer for its present regions",
                null);
    return PostResult.POSTED;
  }

  @Override
  public @Nullable PeerMemory map(RemoteRegion region) {
    InprocConnection open = line;
    if (closed || open == null) {
      return null;
    }
    RegionTable theirs = open.remoteTable(initiating);
    LocalRegion found = theirs.find(region.key());
    return region.incarnation() == theirs.incarnation() && found != null && found.isMappable()
        ? found
        : null;
  }

  @Override
  public long bytesReceived() {
    return bytesReceived;
  }

  @Override
  public long bytesSent() {
    InprocCopier worker = copier;
    return worker == null ? 0 : worker.bytesSent();
  }

  boolean hasWork() {
    InprocConnection open = line;
    return open != null
        && !closed
        && (open.incoming(initiating).hasArrived()
            || open.outgoing(initiating).unpublished() != null
            || open.ended() != null);
  }

  /// Runs one duty cycle; returns the amount of work.
  ///
  /// Hot path.
  int poll() {
    InprocConnection open = line;
    InprocCopier worker = copier;
    if (closed || open == null || worker == null) {
      return 0;
    }
    int work = worker.advance();
    String ended = open.ended();
    work += receive(open);
    if (ended != null && !closed && !open.incoming(initiating).hasArrived()) {
      fail(exception(ended, null));
      work++;
    }
    if (!closed) {
      work += worker.advance();
    }
    if (work > 0) {
      peerTransport.wakeIfWaiting();
    }
    return work;
  }

  private int receive(InprocConnection open) {
    InprocPipe incoming = open.incoming(initiating);
    int work = 0;
    while (work < PARCELS_PER_CYCLE && !closed) {
      InprocMessage parcel = incoming.arrived();
      if (parcel == null) {
        break;
      }
      work++;
      InprocMessage.MessageKind kind = parcel.kind;
      int immediate = parcel.immediate;
      bytesReceived += parcel.traffic();
      MemorySegment message =
          kind == InprocMessage.MessageKind.MESSAGE
              ? transport.messages().copy(incoming.staging(), parcel.at, parcel.bytes)
              : MemorySegment.NULL;
      incoming.consume();
      switch (kind) {
        case MESSAGE -> transport.sink().onMessage(this, message);
        case WRITE -> transport.sink().onNotify(this, immediate);
        case SILENT -> {
          // This side has nothing to do.
        }
      }
    }
    return work;
  }

  TransportException exception(String why, @Nullable Throwable cause) {
    return new TransportException.EndpointLost(
        "endpoint to rank " + node + " at " + peer + " is lost: " + why, cause);
  }

  /// Ends this endpoint: posted work fails, then the sink is notified.
  void fail(TransportException cause) {
    if (!closed) {
      end(cause, "the peer's endpoint failed");
      transport.sink().onFailure(this, cause);
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    InprocCopier worker = copier;
    if (worker != null) {
      worker.advance();
      if (closed) {
        return;
      }
    }
    end(exception("closed by this side", null), "it closed its endpoint");
  }

  private void end(TransportException cause, String toldPeer) {
    closed = true;
    InprocConnection open = line;
    if (open != null) {
      open.close(initiating, toldPeer);
      peerTransport.wakeIfWaiting();
    }
    InprocCopier worker = copier;
    if (worker != null) {
      worker.fail(cause);
    }
    transport.forget(this);
  }
}
