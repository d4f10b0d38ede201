// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.spi.TransportProvider;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Two nodes on two threads that exchange random messages, writes and reads and check the data.
final class TrafficPair implements AutoCloseable {

  private static final long LIMIT_MILLIS = 40_000;

  private final long seed;
  private final long limitMillis;
  private final RandomTraffic first;
  private final RandomTraffic second;

  TrafficPair(TransportProvider provider, String bind, long seed, int operations, int waitFactor) {
    this.seed = seed;
    limitMillis = waitFactor * LIMIT_MILLIS;
    var load = new RandomTraffic.Load(seed, operations, waitFactor);
    first = new RandomTraffic(provider, bind, 0, load);
    second = new RandomTraffic(provider, bind, 1, load);
    first.meet(second);
    second.meet(first);
  }

  void run() throws InterruptedException {
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    first.start(1);
    Thread one = thread(first, failure);
    Thread two = thread(second, failure);
    one.join(limitMillis);
    two.join(limitMillis);
    assertThat(failure.get()).as("failure with seed %d", seed).isNull();
    assertThat(first.isFinished() && second.isFinished())
        .as("finished with seed %d: %s %s", seed, first, second)
        .isTrue();
  }

  private static Thread thread(
      RandomTraffic traffic, AtomicReference<@Nullable Throwable> failure) {
    Thread thread =
        new Thread(
            () -> {
              try {
                traffic.run(() -> failure.get() != null);
              } catch (Throwable e) {
                failure.compareAndSet(null, e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  @Override
  public void close() {
    first.close();
    second.close();
  }
}
