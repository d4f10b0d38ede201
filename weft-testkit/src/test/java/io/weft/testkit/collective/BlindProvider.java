// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.collective;

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
import java.util.Set;

/// A provider whose named nodes cannot map the memory of any peer, though the peers offer it. The
/// rest is another provider's.
record BlindProvider(TransportProvider real, Set<Integer> blind) implements TransportProvider {

  @Override
  public String scheme() {
    return real.scheme();
  }

  @Override
  public Availability probe() {
    return real.probe();
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    if (!blind.contains(config.credentials().node())) {
      return real.open(config, sink);
    }
    Eyes eyes = new Eyes(sink);
    return new BlindTransport(real.open(config, eyes), eyes);
  }

  /// Gives each endpoint its blind one.
  private static final class Eyes implements FrameSink {

    private final FrameSink sink;
    private final Map<Endpoint, Endpoint> blinded = new IdentityHashMap<>();

    Eyes(FrameSink sink) {
      this.sink = sink;
    }

    Endpoint blinded(Endpoint seeing) {
      return blinded.computeIfAbsent(seeing, BlindEndpoint::new);
    }

    @Override
    public void onConnect(Endpoint endpoint) {
      sink.onConnect(blinded(endpoint));
    }

    @Override
    public void onMessage(Endpoint from, MemorySegment message) {
      sink.onMessage(blinded(from), message);
    }

    @Override
    public void onNotify(Endpoint from, int immediate) {
      sink.onNotify(blinded(from), immediate);
    }

    @Override
    public void onFailure(Endpoint from, TransportException cause) {
      sink.onFailure(blinded(from), cause);
    }
  }

  private record BlindEndpoint(Endpoint real) implements Endpoint {

    @Override
    public int node() {
      return real.node();
    }

    @Override
    public PostResult trySend(MemorySegment message) {
      return real.trySend(message);
    }

    @Override
    public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
      return real.tryRead(into, from, done);
    }

    @Override
    public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
      return real.tryWrite(from, into, immediate, done);
    }

    @Override
    public long bytesReceived() {
      return real.bytesReceived();
    }

    @Override
    public long bytesSent() {
      return real.bytesSent();
    }

    @Override
    public void close() {
      real.close();
    }
  }

  private record BlindTransport(Transport real, Eyes eyes) implements Transport {

    @Override
    public Address address() {
      return real.address();
    }

    @Override
    public Capabilities capabilities() {
      return real.capabilities();
    }

    @Override
    public Endpoint connect(Address peer, int node) {
      return eyes.blinded(real.connect(peer, node));
    }

    @Override
    public MemoryRegion allocate(long bytes) {
      return real.allocate(bytes);
    }

    @Override
    public MemoryRegion register(MemorySegment segment, Object owner) {
      return real.register(segment, owner);
    }

    @Override
    public int poll(long nowNanos) {
      return real.poll(nowNanos);
    }

    @Override
    public void flush() {
      real.flush();
    }

    @Override
    public void await(long maxNanos) {
      real.await(maxNanos);
    }

    @Override
    public void wake() {
      real.wake();
    }

    @Override
    public long bytesSent() {
      return real.bytesSent();
    }

    @Override
    public void close() {
      real.close();
    }
  }
}
