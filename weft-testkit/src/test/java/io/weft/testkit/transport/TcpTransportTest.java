// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.transport.TransportException;
import io.weft.transport.spi.TransportProvider;
import io.weft.transport.tcp.TcpProvider;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class TcpTransportTest extends TransportContract {

  @Override
  protected TransportProvider provider() {
    return new TcpProvider();
  }

  @Override
  protected String bind() {
    return "127.0.0.1";
  }

  private static final int MESSAGE = 1024;
  private static final int STREAM = 64;

  @Test
  void aStreamOfMessagesIsSentWhileItsSenderPosts() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    for (int i = 0; i < STREAM; i++) {
      assertThat(endpoint.trySend(MemorySegment.ofArray(new byte[MESSAGE])))
          .isEqualTo(PostResult.POSTED);
    }
    long end = System.nanoTime() + waitFactor() * 20_000_000_000L;
    while (b.heard(SinkEvent.Received.class).size() < STREAM / 2 && System.nanoTime() - end < 0) {
      if (b.poll() == 0) {
        b.transport().await(1_000_000);
      }
    }
    // The other messages wait for the sender's next duty cycle.
    assertThat(b.heard(SinkEvent.Received.class)).hasSizeBetween(STREAM / 2, STREAM - 1);
    net().until(() -> b.heard(SinkEvent.Received.class).size() == STREAM, "all have come");
  }

  @Test
  void aConnectionThatBreaksDuringAStreamFailsAtTheNextFlush() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    b.transport().close();
    long end = System.nanoTime() + waitFactor() * 20_000_000_000L;
    // The peer answers the first arriving message with a reset, after which no more data is sent.
    while (endpoint.trySend(MemorySegment.ofArray(new byte[MESSAGE])) == PostResult.POSTED) {
      assertThat(System.nanoTime() - end).isNegative();
      Thread.onSpinWait();
    }
    assertThat(a.heard(SinkEvent.Failed.class)).isEmpty();
    a.transport().flush();
    assertThat(a.heard(SinkEvent.Failed.class))
        .singleElement()
        .satisfies(
            failed ->
                assertThat(failed.cause())
                    .isInstanceOf(TransportException.EndpointLost.class)
                    .hasMessageContaining("rank 1")
                    .hasMessageContaining("sending failed"));
    assertThat(endpoint.trySend(MemorySegment.ofArray(new byte[1]))).isEqualTo(PostResult.CLOSED);
  }
}
