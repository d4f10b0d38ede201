// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.Address;
import io.weft.transport.Capabilities;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.limit.UnprovenLimit;
import io.weft.transport.region.RegionTable;
import io.weft.transport.ring.MessageBuffer;
import io.weft.transport.secure.JobProof;
import io.weft.transport.secure.RateLimitedLog;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.table.EndpointArrays;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// A transport that other transports of this JVM find by its name, with its endpoints.
final class InprocTransport implements Transport {

  static final int MAX_MESSAGE_BYTES = 1 << 16;
  static final Capabilities CAPABILITIES =
      new Capabilities(
          "inproc", true, MAX_MESSAGE_BYTES, 8 << 10, Long.MAX_VALUE, InprocPipe.SLOTS, 0, true);

  private static final int MAX_CALLS = 64;
  private static final long CALL_NANOS = 1_000_000;

  private final FrameSink sink;
  private final long connectNanos;
  private final long handshakeNanos;
  private final String name;
  private final Address address;
  private final RegionTable table;
  private final JobProof proof;
  private final RateLimitedLog log;
  private final MessageBuffer messages = new MessageBuffer(MAX_MESSAGE_BYTES);
  private final AtomicLong bytesSent = new AtomicLong();
  // A bounded queue of calls from the transports of other threads.
  private final ArrayBlockingQueue<InprocConnection> calls = new ArrayBlockingQueue<>(MAX_CALLS);
  private final List<InprocAnswer> answers = new ArrayList<>();
  private final List<Call> outgoing = new ArrayList<>();
  private InprocEndpoint[] endpoints = {};
  private volatile @Nullable Thread waiter;
  private volatile boolean woken;
  private volatile boolean closed;

  private InprocTransport(TransportConfig config, FrameSink sink, String name) {
    this.sink = sink;
    this.name = name;
    connectNanos = ClampedDuration.nanos(config.connectDeadline());
    handshakeNanos =
        ClampedDuration.nanos(UnprovenLimit.handshakeTimeout(config.connectDeadline()));
    address = new Address(InprocProvider.SCHEME, name);
    table = new RegionTable(address.toString());
    proof = new JobProof(config.credentials(), table.incarnation());
    log =
        new RateLimitedLog(
            "io.weft.transport.inproc", "rank " + config.credentials().node() + " at " + address);
  }

  static InprocTransport open(TransportConfig config, FrameSink sink) {
    InprocNames names = InprocNames.ofProcess();
    String name = names.complete(config.bind());
    InprocTransport transport = new InprocTransport(config, sink, name);
    names.enter(name, transport);
    return transport;
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
  public Endpoint connect(Address peer, int node) {
    if (closed) {
      throw new IllegalStateException("the transport at " + address + " is closed");
    }
    if (!peer.scheme().equals(InprocProvider.SCHEME)) {
      throw new IllegalArgumentException(peer + " is not an address of " + InprocProvider.SCHEME);
    }
    InprocEndpoint endpoint = new InprocEndpoint(this, node, peer, true);
    outgoing.add(new Call(this, endpoint, peer.location()));
    return endpoint;
  }

  @Override
  public MemoryRegion allocate(long bytes) {
    return table.allocate(bytes);
  }

  @Override
  public MemoryRegion register(MemorySegment segment, Object owner) {
    return table.register(segment, owner);
  }

  @Override
  public int poll(long nowNanos) {
    if (closed) {
      return 0;
    }
    log.tick(nowNanos);
    int work = 0;
    while (answers.size() < MAX_CALLS && !calls.isEmpty()) {
      answers.add(new InprocAnswer(this, calls.remove(), nowNanos + handshakeNanos));
    }
    if (!answers.isEmpty()) {
      for (int i = 0; i < answers.size(); i++) {
        work += answers.get(i).tick(nowNanos);
      }
      answers.removeIf(InprocAnswer::isEnded);
    }
    if (!outgoing.isEmpty()) {
      for (int i = 0; i < outgoing.size(); i++) {
        work += outgoing.get(i).tick(nowNanos);
      }
      outgoing.removeIf(Call::isEnded);
    }
    // A callback may open or close endpoints, which replaces the array.
    for (InprocEndpoint endpoint : endpoints) {
      work += endpoint.poll();
    }
    return work;
  }

  /// Accepts a call of another transport; returns false if the queue is full or this transport is
  /// closed. Thread-safe.
  boolean ring(InprocConnection call) {
    if (closed || !calls.offer(call)) {
      return false;
    }
    if (closed) {
      call.close(false, "its transport was closed");
    }
    wakeIfWaiting();
    return true;
  }

  /// Adds an endpoint after both sides have proved the secret.
  void established(InprocEndpoint endpoint, InprocConnection line, InprocTransport other) {
    endpoint.open(line, other);
    endpoints = EndpointArrays.with(endpoints, endpoint);
    sink.onConnect(endpoint);
  }

  void forget(InprocEndpoint endpoint) {
    endpoints = EndpointArrays.without(endpoints, endpoint);
  }

  @Override
  public void await(long maxNanos) {
    if (closed || maxNanos <= 0) {
      return;
    }
    waiter = Thread.currentThread();
    // Pairs with the fence in wakeIfWaiting: the peer sees the waiter, or this side sees the peer's
    // work.
    VarHandle.fullFence();
    if (!woken && !hasWork()) {
      boolean settled = outgoing.isEmpty() && answers.isEmpty();
      LockSupport.parkNanos(this, settled ? maxNanos : Math.min(maxNanos, CALL_NANOS));
    }
    waiter = null;
    woken = false;
  }

  private boolean hasWork() {
    if (!calls.isEmpty() && answers.size() < MAX_CALLS) {
      return true;
    }
    for (int i = 0; i < answers.size(); i++) {
      if (answers.get(i).hasWork()) {
        return true;
      }
    }
    for (int i = 0; i < outgoing.size(); i++) {
      if (outgoing.get(i).hasWork()) {
        return true;
      }
    }
    for (InprocEndpoint endpoint : endpoints) {
      if (endpoint.hasWork()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void wake() {
    woken = true;
    LockSupport.unpark(waiter);
  }

  /// Wakes the polling thread if it waits. Thread-safe.
  ///
  /// Hot path.
  void wakeIfWaiting() {
    VarHandle.fullFence();
    Thread waiting = waiter;
    if (waiting != null) {
      LockSupport.unpark(waiting);
    }
  }

  @Override
  public long bytesSent() {
    return bytesSent.getOpaque();
  }

  void countSent(long bytes) {
    bytesSent.setOpaque(bytesSent.getPlain() + bytes);
  }

  FrameSink sink() {
    return sink;
  }

  RegionTable table() {
    return table;
  }

  JobProof proof() {
    return proof;
  }

  RateLimitedLog log() {
    return log;
  }

  MessageBuffer messages() {
    return messages;
  }

  long connectNanos() {
    return connectNanos;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    for (Call call : List.copyOf(outgoing)) {
      call.abandon("it closed its transport");
      call.endpoint().close();
    }
    answers.forEach(answer -> answer.close("its transport was closed"));
    for (InprocEndpoint endpoint : endpoints) {
      endpoint.close();
    }
    closed = true;
    InprocNames.ofProcess().leave(name, this);
    for (InprocConnection call = calls.poll(); call != null; call = calls.poll()) {
      call.close(false, "its transport was closed");
      call.initiator.wakeIfWaiting();
    }
  }
}
