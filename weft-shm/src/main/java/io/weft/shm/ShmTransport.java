// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.Address;
import io.weft.transport.Capabilities;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.region.RegionHolder;
import io.weft.transport.region.RegionTable;
import io.weft.transport.ring.MessageBuffer;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import io.weft.transport.table.EndpointArrays;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/// A TCP transport whose endpoints to processes of the same host use shared memory. A duty cycle
/// polls all rings, and periodically the sockets.
final class ShmTransport implements Transport, FrameSink {

  static final int MAX_MESSAGE_BYTES = 1 << 16;
  static final Capabilities CAPABILITIES =
      new Capabilities(
          ShmProvider.SCHEME,
          true,
          MAX_MESSAGE_BYTES,
          8 << 10,
          Long.MAX_VALUE,
          ShmOutbound.MAX_IN_FLIGHT,
          0,
          true);

  private static final System.Logger LOG = System.getLogger("io.weft.shm");
  private static final int MAX_GONE = 64;
  private static final long MAX_SLEEP_NANOS = 10_000_000;
  private static final long SWEEP_NANOS = 1_000_000;

  private final FrameSink sink;
  private final long connectNanos;
  private final int node;
  private final Transport tcp;
  private final SocketWatch sockets;
  private final Address address;
  private final ShmMemory home;
  private final Doorbell doorbell;
  private final MessageBuffer messages = new MessageBuffer(MAX_MESSAGE_BYTES);
  private final MemorySegment wakeMessage = new ShmGreeting.Wake().encode();
  private final AtomicLong bytesSent = new AtomicLong();
  private final IdentityHashMap<Endpoint, ShmEndpoint> byLower = new IdentityHashMap<>();
  private final List<ShmEndpoint> meeting = new ArrayList<>();
  private final List<Fault> faults = new ArrayList<>();
  private ShmEndpoint[] shared = {};
  private int apart;
  private int dialing;
  private long nowNanos;
  private long sweptNanos;
  private volatile boolean woken;
  private boolean toldApart;
  private boolean closed;

  private record Fault(ShmEndpoint endpoint, ShmFault fault) {}

  /// Opens the TCP transport and this process's memory.
  ShmTransport(
      TransportProvider provider, TransportConfig config, FrameSink sink, ProcessDomain host)
      throws IOException {
    this.sink = sink;
    connectNanos = ClampedDuration.nanos(config.connectDeadline());
    node = config.credentials().node();
    tcp = provider.open(config, this);
    sockets = new SocketWatch(tcp);
    try {
      address = new Address(ShmProvider.SCHEME, tcp.address().location());
      home = new ShmMemory(host, tableOf(tcp));
    } catch (IOException | RuntimeException e) {
      tcp.close();
      throw e;
    }
    doorbell = new Doorbell(home.control().memory());
  }

  /// Returns the region table of the TCP transport, which this transport shares.
  private static RegionTable tableOf(Transport tcp) {
    if (tcp instanceof RegionHolder holder) {
      return holder.table();
    }
    throw new TransportException.DeviceLost(
        "the TCP transport at " + tcp.address() + " does not share its region table", null);
  }

  @Override
  public Address address() {
    return address;
  }

  @Override
  public Capabilities capabilities() {
    return CAPABILITIES;
  }

  @Override
  public Endpoint connect(Address peer, int peerNode) {
    if (!peer.scheme().equals(ShmProvider.SCHEME)) {
      throw new IllegalArgumentException(peer + " is not an address of " + ShmProvider.SCHEME);
    }
    Endpoint lower = tcp.connect(new Address("tcp", peer.location()), peerNode);
    ShmEndpoint endpoint = new ShmEndpoint(this, lower, peer.toString(), true);
    byLower.put(lower, endpoint);
    dialing++;
    return endpoint;
  }

  @Override
  public MemoryRegion allocate(long bytes) {
    RegionBacking backing = home.pool().allocate(bytes);
    Extent extent = extent(backing);
    long offset = (long) backing.page() * ControlLayout.PAGE;
    return register(extent.memory().asSlice(offset, bytes), backing, offset);
  }

  private static Extent extent(RegionBacking backing) {
    Extent extent = backing.extent();
    if (extent == null) {
      throw new IllegalStateException("pages without an extent");
    }
    return extent;
  }

  @Override
  public MemoryRegion register(MemorySegment segment, Object owner) {
    Extent holding = segment.isNative() ? home.pool().holding(segment) : null;
    RegionBacking backing =
        new RegionBacking(
            home.control(), home.accessTracker(), null, new RegionBacking.Pages(holding, 0, 0));
    backing.keep(owner);
    return register(segment, backing, holding == null ? 0 : holding.offsetOf(segment));
  }

  private MemoryRegion register(MemorySegment memory, RegionBacking backing, long offset) {
    MemoryRegion region = home.table().register(memory, backing);
    backing.show(region.export().key(), offset, memory.byteSize());
    return region;
  }

  // Progress.

  @Override
  public int poll(long now) {
    if (closed) {
      return 0;
    }
    nowNanos = now;
    int work = 0;
    // A callback may open or close endpoints, which replaces the array.
    for (ShmEndpoint endpoint : shared) {
      work += endpoint.poll();
    }
    if (needsSockets() || sockets.isDue(now)) {
      work += sockets.look(now);
      for (int i = meeting.size() - 1; i >= 0; i--) {
        if (i < meeting.size()) {
          meeting.get(i).tick(now, connectNanos);
        }
      }
    }
    if (!faults.isEmpty()) {
      List<Fault> heard = List.copyOf(faults);
      faults.clear();
      heard.forEach(one -> one.endpoint().fault(one.fault()));
    }
    if (home.pool().isDue() && Math.abs(now - sweptNanos) >= SWEEP_NANOS) {
      sweptNanos = now;
      sweep();
    }
    return work;
  }

  /// Flushes only TCP, because memory receives operations when they are posted.
  @Override
  public void flush() {
    tcp.flush();
  }

  /// Returns whether sockets carry more than the end of a process.
  private boolean needsSockets() {
    return shared.length == 0 || apart > 0 || dialing > 0 || !meeting.isEmpty();
  }

  private void sweep() {
    home.pool().sweep();
    for (int i = 0; i < MAX_GONE; i++) {
      int gone = home.pool().nextGone();
      if (gone < 0) {
        break;
      }
      for (ShmEndpoint endpoint : shared) {
        if (!endpoint.tellGone(gone)) {
          // The peer keeps a mapping without memory until its endpoint ends.
          LOG.log(
              Level.DEBUG, "rank {0} is not told that extent {1} is gone", endpoint.node(), gone);
        }
      }
    }
  }

  @Override
  public void await(long maxNanos) {
    if (closed || maxNanos <= 0) {
      return;
    }
    boolean overSockets = sockets.flush() || sockets.isActive() || needsSockets();
    for (ShmEndpoint endpoint : shared) {
      endpoint.prepareToWait();
    }
    doorbell.lieDown(overSockets ? Doorbell.ON_SOCKETS : Doorbell.ON_WORD);
    if (!woken && !hasWork()) {
      if (overSockets) {
        // With shared endpoints the wait is bounded, because a peer's greeting may not be flushed
        // yet.
        tcp.await(shared.length == 0 ? maxNanos : Math.min(maxNanos, MAX_SLEEP_NANOS));
      } else {
        doorbell.sleep(Math.min(maxNanos, MAX_SLEEP_NANOS));
      }
    }
    doorbell.getUp();
    woken = false;
  }

  private boolean hasWork() {
    if (!faults.isEmpty()) {
      return true;
    }
    for (ShmEndpoint endpoint : shared) {
      if (endpoint.hasWork()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void wake() {
    woken = true;
    if (Doorbell.ring(home.control().memory())) {
      tcp.wake();
    }
  }

  @Override
  public String trouble() {
    return tcp.trouble();
  }

  @Override
  public long bytesSent() {
    return tcp.bytesSent() + bytesSent.getOpaque();
  }

  // Callbacks from TCP.

  @Override
  public void onConnect(Endpoint lower) {
    ShmEndpoint endpoint = byLower.get(lower);
    if (endpoint == null) {
      endpoint = new ShmEndpoint(this, lower, "its own address", false);
      byLower.put(lower, endpoint);
    } else {
      dialing--;
    }
    meeting.add(endpoint);
    endpoint.meet(home, nowNanos);
  }

  @Override
  public void onMessage(Endpoint from, MemorySegment message) {
    of(from).lowerMessage(message);
  }

  @Override
  public void onNotify(Endpoint from, int immediate) {
    of(from).lowerNotify(immediate);
  }

  @Override
  public void onFailure(Endpoint from, TransportException cause) {
    of(from).lowerFailure(cause);
  }

  private ShmEndpoint of(Endpoint lower) {
    ShmEndpoint endpoint = byLower.get(lower);
    if (endpoint == null) {
      throw new IllegalStateException("TCP reported a connection that has ended");
    }
    return endpoint;
  }

  // Callbacks from endpoints.

  /// Adds an endpoint after both ends have negotiated.
  void connected(ShmEndpoint endpoint, MemoryNegotiation negotiation) {
    meeting.remove(endpoint);
    if (endpoint.isShared()) {
      shared = EndpointArrays.with(shared, endpoint);
    } else {
      apart++;
      // Only the first peer causes a warning, because a host with many ranks would repeat it.
      LOG.log(
          negotiation.isOneMachine() && !toldApart ? Level.WARNING : Level.DEBUG,
          "rank {0} talks to rank {1} over TCP: {2}",
          node,
          endpoint.node(),
          negotiation.problem());
      toldApart |= negotiation.isOneMachine();
    }
    sink.onConnect(endpoint);
  }

  void forget(ShmEndpoint endpoint, boolean wasApart, boolean wasDialing) {
    byLower.remove(endpoint.lower());
    meeting.remove(endpoint);
    shared = EndpointArrays.without(shared, endpoint);
    apart -= wasApart ? 1 : 0;
    dialing -= wasDialing ? 1 : 0;
  }

  /// Records a protocol fault that cannot be reported to the caller now.
  void faultSoon(ShmEndpoint endpoint, ShmFault fault) {
    if (faults.size() < MAX_GONE) {
      faults.add(new Fault(endpoint, fault));
    }
  }

  SocketWatch sockets() {
    return sockets;
  }

  void countSent(long bytes) {
    bytesSent.setOpaque(bytesSent.getPlain() + bytes);
  }

  void warn(String message) {
    LOG.log(Level.WARNING, "rank {0}: {1}", node, message);
  }

  FrameSink sink() {
    return sink;
  }

  ShmMemory home() {
    return home;
  }

  MessageBuffer messages() {
    return messages;
  }

  MemorySegment wakeMessage() {
    return wakeMessage;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    for (ShmEndpoint endpoint : List.copyOf(byLower.values())) {
      endpoint.close();
    }
    closed = true;
    tcp.close();
    home.close();
  }
}
