// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.PostResult;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Two connected transports of one kind in this process, which one thread polls. They show the cost
/// of a message without waits between threads. The caller owns the object.
final class TwoNodes implements AutoCloseable {

  private static final long LIMIT_NANOS = 60_000_000_000L;
  private static final Duration CONNECT = Duration.ofSeconds(30);

  private final Ear left = new Ear();
  private final Ear right = new Ear();
  private final Transport from;
  private final Transport to;
  private final Endpoint endpoint;

  /// The counter of received messages.
  private static final class Ear implements FrameSink {
    private @Nullable TransportException failure;
    private boolean connected;
    private long messages;

    @Override
    public void onConnect(Endpoint opened) {
      connected = true;
    }

    @Override
    public void onMessage(Endpoint from, MemorySegment message) {
      messages++;
    }

    @Override
    public void onNotify(Endpoint from, int immediate) {}

    @Override
    public void onFailure(Endpoint from, TransportException cause) {
      failure = cause;
    }
  }

  /// Opens two transports and connects them. The class path must have a transport with `scheme`.
  TwoNodes(String scheme) {
    TransportProvider provider = provider(scheme);
    Secret secret = Secret.of(new byte[Secret.MIN_BYTES]);
    from = open(provider, new Credentials("bench", 0, 0, secret), left);
    to = open(provider, new Credentials("bench", 0, 1, secret), right);
    endpoint = from.connect(to.address(), 1);
    long begin = System.nanoTime();
    while (!left.connected || !right.connected) {
      poll(begin);
    }
  }

  /// Returns an unconnected transport.
  static Transport alone(String scheme) {
    Secret secret = Secret.of(new byte[Secret.MIN_BYTES]);
    return open(provider(scheme), new Credentials("bench", 0, 0, secret), new Ear());
  }

  private static TransportProvider provider(String scheme) {
    return TransportProvider.find(scheme)
        .orElseThrow(() -> new IllegalArgumentException("no transport '" + scheme + "'"));
  }

  private static Transport open(TransportProvider provider, Credentials who, FrameSink sink) {
    return provider.open(new TransportConfig("127.0.0.1", CONNECT, who), sink);
  }

  /// Sends one message and polls until it has arrived. Returns the number of messages so far.
  ///
  /// Hot path.
  long send(MemorySegment message) {
    long begin = System.nanoTime();
    long next = right.messages + 1;
    while (endpoint.trySend(message) != PostResult.POSTED) {
      poll(begin);
    }
    while (right.messages < next) {
      poll(begin);
    }
    return next;
  }

  private void poll(long begin) {
    long now = System.nanoTime();
    int work = from.poll(now) + to.poll(now);
    if (left.failure != null || right.failure != null) {
      throw new IllegalStateException("the connection was lost", left.failure);
    }
    if (work == 0 && now - begin > LIMIT_NANOS) {
      throw new IllegalStateException("nothing has moved for 60 s");
    }
  }

  @Override
  public void close() {
    from.close();
    to.close();
  }
}
