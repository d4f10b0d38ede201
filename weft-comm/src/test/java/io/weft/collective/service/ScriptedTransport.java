// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.transport.Address;
import io.weft.transport.Capabilities;
import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PeerMemory;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A transport with scripted peers. It records sent messages. The script completes posted reads and
/// writes and delivers messages. It keeps the guarantees of real transports to the mesh.
final class ScriptedTransport implements Transport {

  static final int MAX_MESSAGE_BYTES = 8192;
  private static final int MAX_KEPT = 256;
  private static final int MAX_IN_FLIGHT = 64;

  private final FrameSink sink;
  private final int ranks;
  private final int rank;
  private final RegionTable table;
  private final List<Peer> peers = new ArrayList<>();
  private final List<byte[]> sent = new ArrayList<>();
  private final MemorySegment arriving = Arena.ofAuto().allocate(MAX_MESSAGE_BYTES, 64);
  private boolean connected;
  private int flushed;

  ScriptedTransport(FrameSink sink, int rank, int ranks, RegionTable table) {
    this.sink = sink;
    this.rank = rank;
    this.ranks = ranks;
    this.table = table;
  }

  /// The other side of one endpoint.
  final class Peer implements Endpoint {
    private final int node;
    private final List<Posted> posted = new ArrayList<>();
    private boolean closed;
    private long sentBytes;
    private long receivedBytes;
    boolean full;

    /// The number of further messages that the peer refuses.
    int refuses;

    private final List<byte[]> got = new ArrayList<>();

    private Peer(int node) {
      this.node = node;
    }

    private record Posted(LocalRegion own, Completion done) {}

    boolean isClosed() {
      return closed;
    }

    /// Returns the first messages that were sent to this peer.
    List<byte[]> got() {
      return got;
    }

    /// Delivers a message from this peer.
    void says(byte[] bytes) {
      if (!closed) {
        receivedBytes += bytes.length;
        MemorySegment message = arriving.asSlice(0, bytes.length);
        message.copyFrom(MemorySegment.ofArray(bytes));
        sink.onMessage(this, message.asReadOnly());
      }
    }

    /// Delivers the notification of a write by this peer.
    void notifies(int immediate) {
      if (!closed) {
        receivedBytes++;
        sink.onNotify(this, immediate);
      }
    }

    /// Completes the oldest posted read or write.
    void settles(@Nullable TransportException error) {
      if (!posted.isEmpty()) {
        Posted first = posted.removeFirst();
        first.own().settle();
        sentBytes++;
        first.done().complete(error);
      }
    }

    /// Breaks the connection.
    void breaks() {
      if (!closed) {
        var cause = new TransportException.EndpointLost("the script broke it", null);
        end(cause);
        sink.onFailure(this, cause);
      }
    }

    private void end(TransportException cause) {
      closed = true;
      while (!posted.isEmpty()) {
        settles(cause);
      }
    }

    @Override
    public int node() {
      return node;
    }

    @Override
    public PostResult trySend(MemorySegment message) {
      if (message.byteSize() > MAX_MESSAGE_BYTES) {
        throw new IllegalArgumentException("a message of " + message.byteSize() + " bytes");
      }
      if (closed || full || refuses > 0) {
        refuses = Math.max(0, refuses - 1);
        return closed ? PostResult.CLOSED : PostResult.BACK_PRESSURED;
      }
      sentBytes += message.byteSize();
      if (sent.size() < MAX_KEPT) {
        byte[] bytes = message.toArray(ValueLayout.JAVA_BYTE);
        sent.add(bytes);
        got.add(bytes);
      }
      return PostResult.POSTED;
    }

    @Override
    public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
      return post(into, done);
    }

    /// Maps memory that this rank itself has offered: a peer that repeats the offer shares that
    /// memory.
    @Override
    public @Nullable PeerMemory map(RemoteRegion region) {
      LocalRegion offered = table.find(region.key());
      return offered != null && offered.isMappable() ? offered : null;
    }

    @Override
    public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
      return post(from, done);
    }

    private PostResult post(Slice own, Completion done) {
      LocalRegion region = table.own(own);
      if (closed || full || posted.size() == MAX_IN_FLIGHT) {
        return closed ? PostResult.CLOSED : PostResult.BACK_PRESSURED;
      }
      region.post();
      posted.add(new Posted(region, done));
      return PostResult.POSTED;
    }

    @Override
    public long bytesSent() {
      return sentBytes;
    }

    @Override
    public long bytesReceived() {
      return receivedBytes;
    }

    @Override
    public void close() {
      if (!closed) {
        end(new TransportException.EndpointLost("closed by this side", null));
      }
    }
  }

  List<Peer> peers() {
    return peers;
  }

  /// Returns the first messages that were sent to any peer.
  List<byte[]> sent() {
    return sent;
  }

  /// Returns whether all sent messages have been flushed.
  boolean isFlushed() {
    return flushed == sent.size();
  }

  @Override
  public Address address() {
    return new Address("script", "" + rank);
  }

  @Override
  public Capabilities capabilities() {
    return new Capabilities(
        "script", false, MAX_MESSAGE_BYTES, 8 << 10, Long.MAX_VALUE, MAX_IN_FLIGHT, 0, true);
  }

  @Override
  public Endpoint connect(Address peer, int node) {
    var endpoint = new Peer(node);
    peers.add(endpoint);
    return endpoint;
  }

  @Override
  public MemoryRegion allocate(long bytes) {
    return register(Arena.ofAuto().allocate(bytes, 64), this);
  }

  @Override
  public MemoryRegion register(MemorySegment segment, Object owner) {
    return table.register(segment, owner);
  }

  @Override
  public int poll(long nowNanos) {
    if (connected) {
      return 0;
    }
    connected = true;
    for (int node = rank + 1; node < ranks; node++) {
      peers.add(new Peer(node));
    }
    peers.forEach(sink::onConnect);
    return peers.size();
  }

  @Override
  public void flush() {
    flushed = sent.size();
  }

  @Override
  public void await(long maxNanos) {}

  @Override
  public void wake() {}

  @Override
  public long bytesSent() {
    return 0;
  }

  @Override
  public void close() {
    peers.forEach(Peer::close);
  }
}
