// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.testkit.sim.network.Journal.What;
import io.weft.transport.Address;
import io.weft.transport.Capabilities;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.region.RegionTable;
import io.weft.transport.secure.JobProof;
import io.weft.transport.spi.TransportConfig;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The transport of one process in a simulated network.
final class SimTransport implements Transport {

  private static final int ARRIVALS_PER_POLL = 1024;
  private static final int PRUNE_FROM = 64;

  private final Network network;
  private final SimNode node;
  private final FrameSink sink;
  private final Address address;
  private final RegionTable table;
  private final JobProof proof;
  private final long connectNanos;
  private final NetworkPort localOut = new NetworkPort();
  private final NetworkPort localIn = new NetworkPort();
  private final ArrayDeque<PendingArrival> arrivals = new ArrayDeque<>();
  private final List<SimEndpoint> shaking = new ArrayList<>();
  private final List<SimEndpoint> begun = new ArrayList<>();
  private List<SimEndpoint> endpoints = new ArrayList<>();
  private int pruneAt = PRUNE_FROM;
  private long dueNanos = Long.MAX_VALUE;
  private long now;
  private long bytesSent;
  private boolean woken;
  private boolean closed;

  SimTransport(Network network, SimNode node, TransportConfig config, FrameSink sink) {
    this.network = network;
    this.node = node;
    this.sink = sink;
    String location = network.listen(config.bind(), this);
    this.address = new Address(SimProvider.SCHEME, location);
    this.table = new RegionTable(address.toString());
    this.proof = new JobProof(config.credentials(), table.incarnation(), network.chance());
    this.connectNanos = ClampedDuration.nanos(config.connectDeadline());
  }

  Network network() {
    return network;
  }

  SimNode node() {
    return node;
  }

  RegionTable table() {
    return table;
  }

  JobProof proof() {
    return proof;
  }

  long connectNanos() {
    return connectNanos;
  }

  /// Returns the time of the last poll.
  long now() {
    return now;
  }

  NetworkPort localOut() {
    return localOut;
  }

  NetworkPort localIn() {
    return localIn;
  }

  List<SimEndpoint> endpoints() {
    return endpoints;
  }

  @Override
  public Address address() {
    return address;
  }

  @Override
  public Capabilities capabilities() {
    return network.capabilities();
  }

  @Override
  public Endpoint connect(Address peer, int peerNode) {
    if (closed) {
      throw new IllegalStateException("the transport at " + address + " is closed");
    }
    if (!peer.scheme().equals(SimProvider.SCHEME)) {
      throw new IllegalArgumentException(peer + " is not an address of " + SimProvider.SCHEME);
    }
    SimEndpoint end = add(new SimEndpoint(this, peerNode));
    end.begin(new SimHandshake.Connect(end, peer.location()));
    begun.add(end);
    node.stir();
    return end;
  }

  /// Accepts a connection; the caller has yet to authenticate itself.
  SimEndpoint called(SimEndpoint caller) {
    SimEndpoint end = add(new SimEndpoint(this, SimEndpoint.UNKNOWN));
    end.begin(new SimHandshake.Caller(end));
    end.meet(caller);
    begun.add(end);
    return end;
  }

  /// Returns the open endpoint to `rank`, or null.
  @Nullable SimEndpoint openTo(int rank) {
    for (SimEndpoint end : endpoints) {
      if (end.isOpen() && end.node() == rank) {
        return end;
      }
    }
    return null;
  }

  private SimEndpoint add(SimEndpoint end) {
    if (endpoints.size() >= pruneAt) {
      endpoints.removeIf(SimEndpoint::isClosed);
      pruneAt = Math.max(PRUNE_FROM, 2 * endpoints.size());
    }
    endpoints.add(end);
    return end;
  }

  @Override
  public MemoryRegion allocate(long bytes) {
    return table.register(network.memory(bytes), network);
  }

  @Override
  public MemoryRegion register(MemorySegment segment, Object owner) {
    return table.register(segment, owner);
  }

  // --- polling

  @Override
  public int poll(long nowNanos) {
    now = nowNanos;
    if (closed) {
      return 0;
    }
    if (nowNanos >= dueNanos || !begun.isEmpty()) {
      tick(nowNanos);
    }
    int work = 0;
    while (work < ARRIVALS_PER_POLL && !closed) {
      PendingArrival next = arrivals.poll();
      if (next == null) {
        break;
      }
      next.take();
      work++;
    }
    return work;
  }

  /// Checks the handshakes that have begun since the last poll. If a check is due, first checks all
  /// earlier unfinished handshakes.
  private void tick(long nowNanos) {
    if (nowNanos >= dueNanos) {
      dueNanos = Long.MAX_VALUE;
      shaking.removeIf(end -> end.handshake() == null);
      List.copyOf(shaking).forEach(end -> look(end, nowNanos));
    }
    for (int i = 0; i < begun.size(); i++) {
      shaking.add(begun.get(i));
      look(begun.get(i), nowNanos);
    }
    begun.clear();
  }

  private void look(SimEndpoint end, long nowNanos) {
    SimHandshake handshake = end.handshake();
    if (handshake != null) {
      tickAt(handshake.tick(nowNanos));
    }
  }

  /// Schedules the next check of handshakes.
  void tickAt(long nanos) {
    dueNanos = Math.min(dueNanos, nanos);
  }

  /// Queues an arrival until the transport is polled.
  void arrive(PendingArrival arrival) {
    if (!closed) {
      boolean first = arrivals.isEmpty(); // otherwise the process has been notified
      arrivals.add(arrival);
      if (first) {
        node.stir();
      }
    }
  }

  /// After a reset, discards an endpoint's unread arrivals, except the reset.
  void forgetUnread(SimEndpoint end) {
    arrivals.removeIf(
        arrival ->
            arrival instanceof SimPacket parcel
                && parcel.to == end
                && parcel.kind != SimPacket.PacketKind.RESET);
  }

  void opened(SimEndpoint end) {
    sink.onConnect(end);
  }

  void failed(SimEndpoint end, TransportException cause) {
    sink.onFailure(end, cause);
  }

  void arrived(SimEndpoint end, byte[] message) {
    end.record(What.ARRIVED, message.length);
    sink.onMessage(end, network.messages().copy(MemorySegment.ofArray(message), 0, message.length));
  }

  void notified(SimEndpoint end, int immediate) {
    sink.onNotify(end, immediate);
  }

  @Override
  public void await(long maxNanos) {
    if (!woken && arrivals.isEmpty() && begun.isEmpty() && maxNanos > 0) {
      long waitNanos = dueNanos == Long.MAX_VALUE ? maxNanos : dueNanos - now;
      node.await(Math.clamp(waitNanos, 1, maxNanos));
    }
    woken = false;
  }

  @Override
  public void wake() {
    woken = true;
    node.stir();
  }

  @Override
  public long bytesSent() {
    return bytesSent;
  }

  void countSent(long bytes) {
    bytesSent += bytes;
  }

  // --- the end

  @Override
  public void close() {
    if (closed) {
      return;
    }
    List.copyOf(endpoints).forEach(SimEndpoint::close);
    end();
  }

  /// Ends the transport of a dead process without a callback to its sink. Unsent bytes are lost.
  void die(long nowNanos) {
    if (!closed) {
      for (SimEndpoint end : endpoints) {
        end.cut(nowNanos);
        end.die();
      }
      end();
    }
  }

  private void end() {
    closed = true;
    network.silence(address.location(), this);
    arrivals.clear();
    shaking.clear();
    begun.clear();
    endpoints = new ArrayList<>();
  }
}
