// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Address;
import io.weft.transport.Capabilities;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.region.RegionTable;
import io.weft.transport.ring.MessageBuffer;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import io.weft.verbs.device.AsyncEvent;
import io.weft.verbs.device.Completions;
import io.weft.verbs.device.Registration;
import io.weft.verbs.memory.Pin;
import io.weft.verbs.memory.Pins;
import io.weft.verbs.memory.PoolBlock;
import io.weft.verbs.model.Polling;
import io.weft.verbs.ring.Grants;
import io.weft.verbs.ring.OneSided;
import io.weft.verbs.ring.RingCredits;
import io.weft.verbs.ring.VerbsOutbound;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Queue pairs of one device, to peers that were contacted over TCP. A duty cycle polls the two
/// completion queues that all queue pairs share, runs each endpoint, and periodically polls the
/// sockets and the device's asynchronous events.
final class VerbsTransport implements Transport, FrameSink {

  private static final System.Logger LOG = System.getLogger("io.weft.verbs");
  private static final int RECEIVES_PER_CYCLE = 256;
  private static final int LAST_CYCLES = 64;
  private static final long LOOK_NANOS = 1_000_000;
  private static final long HEAR_NANOS = 10_000_000;
  private static final int EVENTS_PER_CYCLE = 64;
  private static final long MEETING_SLEEP_NANOS = 1_000_000;
  private static final long MAX_SLEEP_NANOS = 10_000_000;
  private static final long DRAIN_NANOS = 1_000_000_000;

  private final FrameSink sink;
  private final VerbsSettings settings;
  private final long connectNanos;
  private final int node;
  private final Transport tcp;
  private final Address address;
  private final Adapter adapter;
  private final Pins pins;
  private final OneSided oneSided = new OneSided();
  private final Polling polling;
  private final Completions sends;
  private final Completions receives;
  private final MessageBuffer messages = new MessageBuffer(VerbsOutbound.MAX_MESSAGE_BYTES);
  private final EndpointTable roster = new EndpointTable();
  // The index of the next polled receive to consume, and the count of polled receives.
  private int place;
  private int polled;
  private long nowNanos;
  private long lookedNanos;
  private long heardNanos;
  private final AtomicLong bytesSent = new AtomicLong();
  private int unmet;
  private boolean toFlush;
  // A queue pair has ended, and the device may have dropped completions of its receives.
  private boolean toRefill;
  private boolean closed;

  /// Opens the TCP transport and creates this transport on the device. Throws `VerbsException`.
  VerbsTransport(
      TransportProvider provider,
      TransportConfig config,
      FrameSink sink,
      Adapter adapter,
      VerbsSettings settings) {
    this.sink = sink;
    this.settings = settings;
    this.adapter = adapter;
    connectNanos = ClampedDuration.nanos(config.connectDeadline());
    node = config.credentials().node();
    tcp = provider.open(config, this);
    address = new Address(VerbsProvider.SCHEME, tcp.address().location());
    pins = new Pins(new RegionTable(adapter.name()), adapter.domain(), settings.memory());
    polling = adapter.polling(settings);
    sends = polling.sends();
    receives = polling.receives();
  }

  @Override
  public Address address() {
    return address;
  }

  @Override
  public Capabilities capabilities() {
    return adapter.capabilities(settings);
  }

  @Override
  public Endpoint connect(Address peer, int peerNode) {
    if (!peer.scheme().equals(VerbsProvider.SCHEME)) {
      throw new IllegalArgumentException(peer + " is not an address of " + VerbsProvider.SCHEME);
    }
    return enter(tcp.connect(new Address("tcp", peer.location()), peerNode), peer.toString(), true);
  }

  private VerbsEndpoint enter(Endpoint lower, String peer, boolean dialed) {
    VerbsEndpoint endpoint =
        roster.enter(lower, number -> new VerbsEndpoint(this, lower, peer, dialed, number));
    unmet++;
    return endpoint;
  }

  @Override
  public MemoryRegion allocate(long bytes) {
    return pins.allocate(bytes);
  }

  @Override
  public MemoryRegion register(MemorySegment segment, Object owner) {
    return pins.register(segment, owner);
  }

  @Override
  public boolean isForeign(MemorySegment segment) {
    return pins.isForeign(segment);
  }

  @Override
  public int pollingThreads() {
    return settings.model().pollingThreads();
  }

  // Progress.

  @Override
  public int poll(long now) {
    if (closed) {
      return 0;
    }
    nowNanos = now;
    tellMemory();
    int work = takeSends() + takeReceives();
    // A callback may open or close endpoints, which replaces the array.
    for (VerbsEndpoint endpoint : roster.all()) {
      work += endpoint.poll();
    }
    if (!closed && (needsSockets() || Math.abs(now - lookedNanos) >= LOOK_NANOS)) {
      lookedNanos = now;
      toFlush = false;
      if (Math.abs(now - heardNanos) >= HEAR_NANOS) {
        heardNanos = now;
        work += hearDevice();
      }
      work += tcp.poll(now);
      if (unmet > 0) {
        for (VerbsEndpoint endpoint : roster.all()) {
          endpoint.tick(now, connectNanos);
        }
      }
    }
    return work;
  }

  /// Returns whether sockets carry more than the end of a process.
  private boolean needsSockets() {
    return unmet > 0 || toFlush || roster.all().length == 0;
  }

  /// Consumes completions of sends, without callbacks.
  ///
  /// Hot path.
  private int takeSends() {
    int count = sends.poll();
    for (int i = 0; i < count; i++) {
      VerbsEndpoint endpoint = roster.of(sends.queuePair(i));
      QueuePairLink link = endpoint == null ? null : endpoint.link();
      if (link == null) {
        continue;
      }
      if (sends.succeeded(i)) {
        link.retire(sends.id(i));
      } else {
        adapter.fail(link, "work failed: " + sends.words(i));
      }
    }
    return count;
  }

  /// Consumes completions of receives. The sink that is called may re-enter this method.
  ///
  /// Hot path.
  private int takeReceives() {
    int work = 0;
    while (!closed && work < RECEIVES_PER_CYCLE && hasReceived()) {
      int at = place++;
      work++;
      VerbsEndpoint endpoint = roster.of(receives.queuePair(at));
      QueuePairLink link = endpoint == null ? null : endpoint.link();
      if (link == null || endpoint == null) {
        continue;
      }
      if (receives.succeeded(at)) {
        endpoint.received(receives.immediate(at));
      } else {
        adapter.fail(link, "a receive failed: " + receives.words(at));
      }
    }
    return work;
  }

  /// Handles the device's asynchronous events, such as a port that is down; returns their count. It
  /// calls no sink, because endpoints end in their own duty cycle.
  private int hearDevice() {
    for (int i = 0; i < EVENTS_PER_CYCLE; i++) {
      AsyncEvent event = adapter.takeEvent();
      if (event == null) {
        return i;
      }
      roster.hear(event, adapter.fatal(event));
    }
    return EVENTS_PER_CYCLE;
  }

  /// Tells peers about new blocks, and about closed regions and discarded blocks that their devices
  /// may access.
  ///
  /// Hot path.
  void tellMemory() {
    for (PoolBlock block = pins.nextAdded(); block != null; block = pins.nextAdded()) {
      for (VerbsEndpoint endpoint : roster.all()) {
        Grants grants = endpoint.grants();
        if (grants != null) {
          grants.offer(block);
        }
      }
    }
    for (Pin region = pins.nextWithdrawn(); region != null; region = pins.nextWithdrawn()) {
      for (int number : region.remaining()) {
        Grants grants = grants(number);
        if (grants == null) {
          region.left(number);
        } else {
          grants.close(region);
        }
      }
    }
    for (PoolBlock block = pins.nextDiscarded(); block != null; block = pins.nextDiscarded()) {
      for (int number = block.offeredTo().nextSetBit(0);
          number >= 0;
          number = block.offeredTo().nextSetBit(number + 1)) {
        Grants grants = grants(number);
        if (grants == null) {
          block.left(number);
        } else {
          grants.withdraw(block);
        }
      }
    }
  }

  private @Nullable Grants grants(int number) {
    VerbsEndpoint endpoint = roster.at(number);
    return endpoint == null ? null : endpoint.grants();
  }

  /// Offers all blocks of the pool to a peer that has connected.
  void offerAll(VerbsEndpoint endpoint) {
    Grants grants = endpoint.grants();
    if (grants != null) {
      pins.blocks().forEach(grants::offer);
    }
  }

  private boolean hasReceived() {
    if (place == polled) {
      place = 0;
      polled = receives.poll();
      adapter.receiveQueue().consumed(polled);
      if (polled == 0 && toRefill) {
        toRefill = false;
        int unused = adapter.receiveQueue().fill();
      }
    }
    return place < polled;
  }

  /// Waits until the device has completed all posted requests, at most a second, without callbacks.
  void drain(QueuePairLink link) {
    long start = System.nanoTime();
    while (!link.isDrained() && System.nanoTime() - start < DRAIN_NANOS) {
      if (takeSends() == 0) {
        Thread.yield();
      }
    }
  }

  @Override
  public void flush() {
    if (!closed) {
      for (VerbsEndpoint endpoint : roster.all()) {
        endpoint.flush();
      }
      tcp.flush();
    }
  }

  @Override
  public void await(long maxNanos) {
    if (closed || maxNanos <= 0) {
      return;
    }
    if (needsSockets()) {
      tcp.await(roster.all().length == 0 ? maxNanos : Math.min(maxNanos, MEETING_SLEEP_NANOS));
      return;
    }
    polling.prepare();
    // Completions before the preparation do not wake this thread.
    if (takeSends() == 0 && !hasReceived()) {
      polling.await(Math.min(maxNanos, MAX_SLEEP_NANOS));
    }
    polling.resume();
  }

  @Override
  public void wake() {
    polling.wake();
    tcp.wake();
  }

  @Override
  public String trouble() {
    return tcp.trouble();
  }

  @Override
  public long bytesSent() {
    return tcp.bytesSent() + bytesSent.getOpaque();
  }

  @Override
  public Map<String, Long> counters() {
    Registration.RegistrationCounts counts = pins.counts();
    return Map.ofEntries(
        Map.entry("registrations", counts.registrations()),
        Map.entry("registeredBytes", counts.registeredBytes()),
        Map.entry("registeringNanos", counts.registeringNanos()),
        Map.entry("deregistrations", counts.deregistrations()),
        Map.entry("deregisteringNanos", counts.deregisteringNanos()),
        Map.entry("pinnedBytes", counts.pinnedBytes()),
        Map.entry("refusedRegistrations", pins.refused()),
        Map.entry("cachedRegistrations", pins.hits()),
        Map.entry("oneSidedWrittenBytes", oneSided.writtenBytes()),
        Map.entry("oneSidedReadBytes", oneSided.readBytes()),
        Map.entry("ringBytes", oneSided.ringBytes()));
  }

  void countSent(long bytes) {
    bytesSent.setOpaque(bytesSent.getPlain() + bytes);
  }

  // Callbacks from TCP.

  @Override
  public void onConnect(Endpoint lower) {
    VerbsEndpoint endpoint = roster.above(lower);
    if (endpoint == null) {
      endpoint = enter(lower, "its own address", false);
    }
    endpoint.meet(nowNanos);
  }

  @Override
  public void onMessage(Endpoint from, MemorySegment message) {
    of(from).lowerMessage(message);
  }

  @Override
  public void onNotify(Endpoint from, int immediate) {
    of(from).lowerNotify();
  }

  /// Handles the loss of a TCP connection, after the peer's earlier frames and the device's events.
  @Override
  public void onFailure(Endpoint from, TransportException cause) {
    VerbsEndpoint endpoint = of(from);
    int unused = hearDevice();
    for (int i = 0; i < LAST_CYCLES && takeReceives() > 0; i++) {}
    endpoint.lowerFailure(cause);
  }

  private VerbsEndpoint of(Endpoint lower) {
    VerbsEndpoint endpoint = roster.above(lower);
    if (endpoint == null) {
      throw new IllegalStateException("TCP reported a connection that has ended");
    }
    return endpoint;
  }

  // Callbacks from endpoints.

  /// Creates a queue pair for this endpoint. Throws `VerbsException`.
  QueuePairLink link(VerbsEndpoint endpoint) {
    QueuePairLink link = adapter.link(settings, this::countSent);
    roster.bind(link, endpoint);
    return link;
  }

  /// Records that the queue pair of an endpoint has ended.
  void unlink() {
    adapter.giveBack();
    toRefill = true;
  }

  /// Reports an endpoint as usable, because both ends may send.
  void connected(VerbsEndpoint endpoint) {
    unmet--;
    sink.onConnect(endpoint);
  }

  void forget(VerbsEndpoint endpoint) {
    roster.leave(endpoint);
    unmet -= endpoint.isConnected() ? 0 : 1;
  }

  void flushSoon() {
    toFlush = true;
  }

  int maxMessageBytes() {
    return RingCredits.maxPayload(settings.ringBytes());
  }

  /// Returns the number of posted receives that all peers share.
  int postedReceives() {
    return adapter.receiveQueue().capacity();
  }

  Pins pins() {
    return pins;
  }

  OneSided oneSided() {
    return oneSided;
  }

  MessageBuffer messages() {
    return messages;
  }

  FrameSink sink() {
    return sink;
  }

  void warn(String message) {
    LOG.log(Level.WARNING, "rank {0}: {1}", node, message);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    for (VerbsEndpoint endpoint : List.of(roster.all())) {
      endpoint.close();
    }
    closed = true;
    tcp.close();
    polling.close();
    adapter.close();
    pins.close();
  }
}
