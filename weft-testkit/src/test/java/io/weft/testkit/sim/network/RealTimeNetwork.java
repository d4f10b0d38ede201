// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.testkit.sim.clock.Timeline;
import io.weft.transport.Address;
import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.Capabilities;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/// A simulated network whose time is the machine's, under one lock: so the suite that drives real
/// transports, on several threads, can drive this one.
final class RealTimeNetwork implements TransportProvider {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Timeline timeline = new Timeline();
  private final long origin = System.nanoTime();
  private final Network network;

  RealTimeNetwork(long seed) {
    network =
        new Network(
            timeline,
            new SplittableRandom(seed),
            new Network.Setup(1, Link.ETHERNET, Link.MEMORY, Limits.DEFAULT, Tamper.NONE),
            (what, who, peer, bytes, message) -> {});
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      long now = System.nanoTime() - origin;
      while (timeline.step(now)) {
        changed.signalAll();
      }
      timeline.pass(now);
      T result = action.get();
      changed.signalAll();
      return result;
    } finally {
      lock.unlock();
    }
  }

  private void run(Runnable action) {
    var unused =
        locked(
            () -> {
              action.run();
              return true;
            });
  }

  @Override
  public String scheme() {
    return SimProvider.SCHEME;
  }

  @Override
  public Availability probe() {
    return new SimProvider(network, new Place(0)).probe();
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    return locked(() -> new Device(config, sink));
  }

  private final class Place implements Station {
    private final int rank;

    Place(int rank) {
      this.rank = rank;
    }

    @Override
    public int rank() {
      return rank;
    }

    @Override
    public int host() {
      return 0;
    }

    @Override
    public int incarnation() {
      return 0;
    }

    @Override
    public void stir() {
      changed.signalAll();
    }

    @Override
    public void await(long maxNanos) {
      try {
        long next = timeline.nextNanos() - (System.nanoTime() - origin);
        if (next > 0) {
          long unused = changed.awaitNanos(Math.min(maxNanos, next));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private final class Device implements Transport, FrameSink {
    private final Transport inner;
    private final FrameSink sink;
    private final Map<Endpoint, Endpoint> ends = new IdentityHashMap<>();

    Device(TransportConfig config, FrameSink sink) {
      this.sink = sink;
      this.inner =
          new SimProvider(network, new Place(config.credentials().node())).open(config, this);
    }

    private Endpoint outer(Endpoint end) {
      return ends.computeIfAbsent(end, End::new);
    }

    @Override
    public Address address() {
      return inner.address();
    }

    @Override
    public Capabilities capabilities() {
      return inner.capabilities();
    }

    @Override
    public Endpoint connect(Address peer, int node) {
      return locked(() -> outer(inner.connect(peer, node)));
    }

    @Override
    public MemoryRegion allocate(long bytes) {
      return inner.allocate(bytes);
    }

    @Override
    public MemoryRegion register(MemorySegment segment, Object owner) {
      return inner.register(segment, owner);
    }

    @Override
    public int poll(long nowNanos) {
      return locked(() -> inner.poll(nowNanos));
    }

    @Override
    public void await(long maxNanos) {
      run(() -> inner.await(maxNanos));
    }

    @Override
    public void wake() {
      run(inner::wake);
    }

    @Override
    public long bytesSent() {
      return inner.bytesSent();
    }

    @Override
    public void close() {
      run(inner::close);
    }

    @Override
    public void onConnect(Endpoint endpoint) {
      sink.onConnect(outer(endpoint));
    }

    @Override
    public void onMessage(Endpoint from, MemorySegment message) {
      sink.onMessage(outer(from), message);
    }

    @Override
    public void onNotify(Endpoint from, int immediate) {
      sink.onNotify(outer(from), immediate);
    }

    @Override
    public void onFailure(Endpoint from, TransportException cause) {
      sink.onFailure(outer(from), cause);
    }
  }

  private final class End implements Endpoint {
    private final Endpoint inner;

    End(Endpoint inner) {
      this.inner = inner;
    }

    @Override
    public int node() {
      return inner.node();
    }

    @Override
    public PostResult trySend(MemorySegment message) {
      return locked(() -> inner.trySend(message));
    }

    @Override
    public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
      return locked(() -> inner.tryRead(into, from, done));
    }

    @Override
    public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
      return locked(() -> inner.tryWrite(from, into, immediate, done));
    }

    @Override
    public long bytesReceived() {
      return inner.bytesReceived();
    }

    @Override
    public long bytesSent() {
      return inner.bytesSent();
    }

    @Override
    public void close() {
      run(inner::close);
    }
  }
}
