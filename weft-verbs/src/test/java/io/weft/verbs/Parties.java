// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.config.Settings;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.PostResult;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportConfig;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Transports of this process on the first RDMA device, connected in a full mesh and polled by the
/// test's thread.
final class Parties implements AutoCloseable {

  private static final long LIMIT_NANOS = 120_000_000_000L;

  private final List<Party> parties = new ArrayList<>();

  /// Returns the default settings with these bounds of the memory that stays registered with the
  /// device.
  static VerbsSettings settings(long poolBytes, long cacheBytes) {
    return VerbsSettings.of(
        Settings.ofThisProcess()
            .with(VerbsConfig.POOL_BYTES, poolBytes)
            .with(VerbsConfig.CACHE_BYTES, cacheBytes));
  }

  static VerbsSettings settings() {
    return VerbsSettings.ofThisProcess();
  }

  Parties(int count, VerbsSettings settings) {
    this(Collections.nCopies(count, settings));
  }

  /// Opens one transport for each element of `settings`.
  Parties(List<VerbsSettings> settings) {
    int count = settings.size();
    for (int node = 0; node < count; node++) {
      parties.add(new Party(node, settings.get(node)));
    }
    for (Party from : parties) {
      for (Party to : parties.subList(0, from.node)) {
        from.endpoints.put(to.node, from.transport.connect(to.transport.address(), to.node));
      }
    }
    until(
        () -> parties.stream().allMatch(party -> party.connected == count - 1),
        "all are connected");
  }

  Party get(int node) {
    return parties.get(node);
  }

  List<Party> all() {
    return parties;
  }

  /// Polls all transports until the condition holds.
  void until(BooleanSupplier condition, String what) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      poll();
      assertThat(System.nanoTime() - start).as("time until " + what).isLessThan(LIMIT_NANOS);
    }
  }

  /// Repeats `work` until it is posted.
  void post(Supplier<PostResult> work) {
    until(() -> work.get() == PostResult.POSTED, "there is room");
  }

  void poll() {
    int work = 0;
    for (Party party : parties) {
      work += party.transport.poll(System.nanoTime());
      assertThat(party.failures).isEmpty();
    }
    if (work == 0) {
      Thread.yield();
    }
  }

  @Override
  public void close() {
    parties.forEach(party -> party.transport.close());
  }

  /// A message or notification from a peer.
  sealed interface Heard {

    record Message(MemorySegment bytes) implements Heard {}

    record Notice(int immediate) implements Heard {}
  }

  /// One transport and the events that it has received.
  static final class Party implements FrameSink {
    final int node;
    final Transport transport;
    final Map<Integer, Endpoint> endpoints = new TreeMap<>();
    final Map<Integer, ArrayDeque<Heard>> heard = new TreeMap<>();
    final List<TransportException> failures = new ArrayList<>();
    int connected;

    Party(int node, VerbsSettings settings) {
      this.node = node;
      Secret secret = Secret.of("the secret of this job".getBytes(StandardCharsets.UTF_8));
      transport =
          VerbsProvider.open(
              new TransportConfig(
                  "127.0.0.1", Duration.ofSeconds(60), new Credentials("job", 1, node, secret)),
              this,
              settings);
    }

    Endpoint to(int peer) {
      return endpoints.get(peer);
    }

    /// Returns the events of a peer that the test has not yet taken, in order.
    ArrayDeque<Heard> heardOf(int peer) {
      return heard.computeIfAbsent(peer, _ -> new ArrayDeque<>());
    }

    @Override
    public void onConnect(Endpoint endpoint) {
      endpoints.put(endpoint.node(), endpoint);
      connected++;
    }

    @Override
    public void onMessage(Endpoint from, MemorySegment message) {
      heardOf(from.node())
          .add(new Heard.Message(MemorySegment.ofArray(message.toArray(ValueLayout.JAVA_BYTE))));
    }

    @Override
    public void onNotify(Endpoint from, int immediate) {
      heardOf(from.node()).add(new Heard.Notice(immediate));
    }

    @Override
    public void onFailure(Endpoint from, TransportException cause) {
      failures.add(cause);
    }
  }
}
