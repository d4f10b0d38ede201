// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportConfig;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// One end of a connection over verbs, which remembers what it heard.
final class Party implements FrameSink, AutoCloseable {

  static final long LIMIT_NANOS = 120_000_000_000L;

  final List<Endpoint> connected = new ArrayList<>();
  final List<TransportException> failures = new ArrayList<>();
  final Transport transport;
  int messages;

  Party(int node) {
    Secret secret = Secret.of("the secret of faults".getBytes(StandardCharsets.UTF_8));
    transport =
        new VerbsProvider()
            .open(
                new TransportConfig(
                    "127.0.0.1",
                    Duration.ofSeconds(60),
                    new Credentials("faults", 1, node, secret)),
                this);
  }

  /// Polls these until `condition` holds.
  static void until(BooleanSupplier condition, String what, Party... parties) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      for (Party party : parties) {
        party.transport.poll(System.nanoTime());
        party.transport.await(100_000);
      }
      if (System.nanoTime() - start > LIMIT_NANOS) {
        throw new AssertionError("not within 120 s: " + what);
      }
    }
  }

  @Override
  public void onConnect(Endpoint endpoint) {
    connected.add(endpoint);
  }

  @Override
  public void onMessage(Endpoint from, MemorySegment message) {
    messages++;
  }

  @Override
  public void onNotify(Endpoint from, int immediate) {}

  @Override
  public void onFailure(Endpoint from, TransportException cause) {
    failures.add(cause);
  }

  @Override
  public void close() {
    transport.close();
  }

  /// How one operation ended.
  static final class Ending extends Completion {
    @Nullable TransportException failure;
    int fired;

    Ending() {
      arm(1);
    }

    @Override
    protected void onSuccess() {
      fired++;
    }

    @Override
    protected void onFailure(TransportException first) {
      fired++;
      failure = first;
    }
  }
}
