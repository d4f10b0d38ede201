// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Endpoint;
import io.weft.transport.inproc.InprocProvider;
import io.weft.transport.spi.TransportProvider;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class InprocTransportTest extends TransportContract {

  @Override
  protected TransportProvider provider() {
    return new InprocProvider();
  }

  @Override
  protected String bind() {
    return "contract";
  }

  /// A longer connect deadline also gives a handshake more time, as over sockets.
  @Test
  void aHandshakeHasATwelfthOfTheConnectDeadline() {
    Duration deadline = Duration.ofMinutes(2);
    try (Node a = Node.open(provider(), "late-a", deadline, Node.credentials(0));
        Node b = Node.open(provider(), "late-b", deadline, Node.credentials(1))) {
      Endpoint call = b.transport().connect(a.address(), 0);
      long now = System.nanoTime();
      b.transport().poll(now);
      for (int second : new int[] {0, 6, 9}) {
        a.transport().poll(now + second * 1_000_000_000L);
      }
      for (int i = 0; i < 20; i++) {
        b.transport().poll(now + 9_000_000_000L);
        a.transport().poll(now + 9_000_000_000L);
      }
      assertThat(b.connected()).containsExactly(call);
    }
  }
}
