// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportConfig;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// One open transport that records the events it receives.
final class Peer implements FrameSink, AutoCloseable {

  static final Duration CONNECT_DEADLINE = Duration.ofSeconds(30);
  static final long LIMIT_NANOS = 40_000_000_000L;

  final Transport transport;
  final List<Endpoint> connected = new ArrayList<>();
  final List<byte[]> messages = new ArrayList<>();
  final List<Integer> notified = new ArrayList<>();
  final List<TransportException> failures = new ArrayList<>();
  private final List<MemoryRegion> regions = new ArrayList<>();

  Peer(int node, ProcessDomain host) {
    this(node, host, CONNECT_DEADLINE);
  }

  Peer(int node, ProcessDomain host, Duration deadline) {
    Credentials credentials = new Credentials("test", 0, node, secret());
    transport =
        ShmProvider.open(new TransportConfig("127.0.0.1", deadline, credentials), this, host);
  }

  static Secret secret() {
    return Secret.of("the secret of this test".getBytes(StandardCharsets.UTF_8));
  }

  static Peer here(int node) throws IOException {
    return new Peer(node, ProcessDomain.here());
  }

  MemoryRegion region(long bytes) {
    MemoryRegion region = transport.allocate(bytes);
    regions.add(region);
    return region;
  }

  Endpoint to(int node) {
    return connected.stream().filter(one -> one.node() == node).findFirst().orElseThrow();
  }

  /// Connects two peers and returns the endpoint of `from`.
  static Endpoint connect(Peer from, Peer to, int node) {
    int accepted = to.connected.size();
    Endpoint endpoint = from.transport.connect(to.transport.address(), node);
    until(
        "connected",
        () -> from.connected.contains(endpoint) && to.connected.size() > accepted,
        from,
        to);
    return endpoint;
  }

  /// Polls the peers until `condition` holds.
  static void until(String what, BooleanSupplier condition, Peer... peers) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      int work = 0;
      for (Peer peer : peers) {
        work += peer.transport.poll(System.nanoTime());
      }
      if (System.nanoTime() - start > LIMIT_NANOS) {
        throw new AssertionError("not in time: " + what);
      }
      if (work == 0) {
        Thread.yield();
      }
    }
  }

  /// Repeats `verb` until it is posted.
  static void post(Supplier<PostResult> verb, Peer... peers) {
    until("posted", () -> verb.get() == PostResult.POSTED, peers);
  }

  static MemorySegment bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return MemorySegment.ofArray(bytes);
  }

  @Override
  public void onConnect(Endpoint endpoint) {
    connected.add(endpoint);
  }

  @Override
  public void onMessage(Endpoint from, MemorySegment message) {
    messages.add(message.toArray(ValueLayout.JAVA_BYTE));
  }

  @Override
  public void onNotify(Endpoint from, int immediate) {
    notified.add(immediate);
  }

  @Override
  public void onFailure(Endpoint from, TransportException cause) {
    failures.add(cause);
  }

  @Override
  public void close() {
    transport.close();
    regions.forEach(MemoryRegion::close);
  }

  /// A completion that records its outcome.
  static final class Done extends Completion {

    boolean ended;
    @Nullable TransportException failure;

    Done() {
      arm(1);
    }

    @Override
    protected void onSuccess() {
      ended = true;
    }

    @Override
    protected void onFailure(TransportException first) {
      ended = true;
      failure = first;
    }
  }
}
