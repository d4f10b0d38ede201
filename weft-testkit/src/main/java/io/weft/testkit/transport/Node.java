// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// One node of a test: an open transport with a sink that records its events.
final class Node implements FrameSink, AutoCloseable {

  static final Duration CONNECT_DEADLINE = Duration.ofSeconds(15);

  private final Transport transport;
  private final List<SinkEvent> events = new ArrayList<>();
  private final List<MemoryRegion> regions = new ArrayList<>();

  private Node(TransportProvider provider, TransportConfig config) {
    transport = provider.open(config, this);
  }

  static Node open(TransportProvider provider, String bind, int node) {
    return open(provider, bind, credentials(node));
  }

  static Node open(TransportProvider provider, String bind, Credentials credentials) {
    return open(provider, bind, CONNECT_DEADLINE, credentials);
  }

  static Node open(
      TransportProvider provider, String bind, Duration deadline, Credentials credentials) {
    return new Node(provider, new TransportConfig(bind, deadline, credentials));
  }

  static Credentials credentials(int node) {
    return new Credentials("contract", 1, node, secret("the secret of this job"));
  }

  static Secret secret(String text) {
    return Secret.of(text.getBytes(StandardCharsets.UTF_8));
  }

  Transport transport() {
    return transport;
  }

  Address address() {
    return transport.address();
  }

  int poll() {
    return transport.poll(System.nanoTime());
  }

  List<SinkEvent> events() {
    return events;
  }

  <E extends SinkEvent> List<E> heard(Class<E> kind) {
    return events.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  /// Returns the bytes of the `i`-th message.
  byte[] heardMessage(int i) {
    return ((SinkEvent.Received) events.get(i + firstMessage())).bytes();
  }

  private int firstMessage() {
    int i = 0;
    while (!(events.get(i) instanceof SinkEvent.Received)) {
      i++;
    }
    return i;
  }

  /// Returns the endpoints in the order in which they became usable.
  List<Endpoint> connected() {
    return heard(SinkEvent.Connected.class).stream().map(SinkEvent.Connected::endpoint).toList();
  }

  /// Returns its endpoint to this node.
  Endpoint to(int node) {
    return connected().stream()
        .filter(endpoint -> endpoint.node() == node)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no endpoint to rank " + node + ": " + events));
  }

  /// Allocates a region that is closed with this node.
  MemoryRegion region(long bytes) {
    MemoryRegion region = transport.allocate(bytes);
    regions.add(region);
    return region;
  }

  /// Allocates a region with random contents.
  MemoryRegion region(long bytes, Random random) {
    MemoryRegion region = region(bytes);
    fill(region.segment(), random);
    return region;
  }

  static void fill(MemorySegment segment, Random random) {
    byte[] bytes = new byte[(int) segment.byteSize()];
    random.nextBytes(bytes);
    MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 0, bytes.length);
  }

  @Override
  public void onConnect(Endpoint endpoint) {
    events.add(new SinkEvent.Connected(endpoint));
  }

  @Override
  public void onMessage(Endpoint from, MemorySegment message) {
    events.add(
        new SinkEvent.Received(
            from, MemorySegment.ofArray(message.toArray(ValueLayout.JAVA_BYTE))));
  }

  @Override
  public void onNotify(Endpoint from, int immediate) {
    events.add(new SinkEvent.Notified(from, immediate));
  }

  @Override
  public void onFailure(Endpoint from, TransportException cause) {
    events.add(new SinkEvent.Failed(from, cause));
  }

  @Override
  public void close() {
    transport.close();
    regions.forEach(MemoryRegion::close);
  }
}
