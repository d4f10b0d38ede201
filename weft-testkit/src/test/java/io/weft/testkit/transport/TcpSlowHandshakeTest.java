// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.tcp.TcpProvider;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A node that had no processor for a while in the middle of a connection's set-up.
@Timeout(60)
class TcpSlowHandshakeTest {

  private final TcpProvider tcp = new TcpProvider();

  /// @param polls of both before the listener stands still, while the other one goes on waiting
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8})
  void aListenerThatStoodStillTakesNoAttemptForALoss(int polls) {
    try (Node listening = Node.open(tcp, "127.0.0.1", 0);
        Node calling = Node.open(tcp, "127.0.0.1", 1)) {
      long now = System.nanoTime();
      var unused = calling.transport().connect(listening.address(), 0);
      for (int i = 0; i < polls; i++) {
        calling.transport().poll(now);
        listening.transport().poll(now);
      }
      calling.transport().poll(now);
      now += TimeUnit.SECONDS.toNanos(11);
      calling.transport().poll(now);
      calling.transport().poll(now);
      for (int i = 0; i < 2000 && !isConnected(calling, listening); i++) {
        now += TimeUnit.MILLISECONDS.toNanos(1);
        listening.transport().poll(now);
        calling.transport().poll(now);
      }
      assertThat(calling.connected()).as(calling.events() + "").hasSize(1);
      for (int i = 0; i < 20; i++) {
        listening.transport().poll(now);
        calling.transport().poll(now);
      }
      assertThat(listening.connected()).hasSize(1);
      assertThat(listening.heard(SinkEvent.Failed.class)).isEmpty();
      assertThat(calling.heard(SinkEvent.Failed.class)).isEmpty();
    }
  }

  private static boolean isConnected(Node one, Node other) {
    return !one.connected().isEmpty() && !other.connected().isEmpty();
  }
}
