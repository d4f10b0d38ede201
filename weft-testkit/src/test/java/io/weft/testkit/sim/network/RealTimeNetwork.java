// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.testkit.forward.ForwardingEndpoint;
import io.weft.testkit.forward.ForwardingSink;
import io.weft.testkit.forward.ForwardingTransport;
import io.weft.testkit.sim.clock.EventQueue;
import io.weft.transport.Address;
import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/// A simulated network that runs in real time under one lock, so that the suite for real transports
/// can run on it with several threads.
final class RealTimeNetwork implements TransportProvider {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final EventQueue events = new EventQueue();
  private final long origin = System.nanoTime();
  private final Network network;

  RealTimeNetwork(long seed) {
    network =
        new Network(
            events,
            new SplittableRandom(seed),
            new Network.Setup(1, SimLink.ETHERNET, SimLink.MEMORY, Limits.DEFAULT, Tamper.NONE),
            (what, who, peer, bytes, message) -> {});
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      long now = System.nanoTime() - origin;
      while (events.step(now)) {
        changed.signalAll();
      }
      events.pass(now);
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
    ForwardingSink ends = new ForwardingSink(sink, End::new);
    SimNode place = new Place(config.credentials().node());
    return locked(() -> new Device(new SimProvider(network, place).open(config, ends), ends));
  }

  private final class Place implements SimNode {
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
        long next = events.nextNanos() - (System.nanoTime() - origin);
        if (next > 0) {
          long unused = changed.awaitNanos(Math.min(maxNanos, next));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private final class Device extends ForwardingTransport {

    private final ForwardingSink sink;

    Device(Transport real, ForwardingSink sink) {
      super(real);
      this.sink = sink;
    }

    @Override
    public Endpoint connect(Address peer, int node) {
      return locked(() -> sink.inFrontOf(super.connect(peer, node)));
    }

    @Override
    public int poll(long nowNanos) {
      return locked(() -> super.poll(nowNanos));
    }

    @Override
    public void await(long maxNanos) {
      run(() -> super.await(maxNanos));
    }

    @Override
    public void wake() {
      run(super::wake);
    }

    @Override
    public void close() {
      run(super::close);
    }
  }

  private final class End extends ForwardingEndpoint {

    End(Endpoint real) {
      super(real);
    }

    @Override
    public PostResult trySend(MemorySegment message) {
      return locked(() -> super.trySend(message));
    }

    @Override
    public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
      return locked(() -> super.tryRead(into, from, done));
    }

    @Override
    public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
      return locked(() -> super.tryWrite(from, into, immediate, done));
    }

    @Override
    public void close() {
      run(super::close);
    }
  }
}
