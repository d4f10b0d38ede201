// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Address;
import io.weft.transport.tcp.TcpProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks a node that got no processor time during the set-up of a connection.
@Timeout(60)
class TcpSlowHandshakeTest {

  private static final long MARGIN = TimeUnit.MILLISECONDS.toNanos(500);

  private final TcpProvider tcp = new TcpProvider();

  /// @param polls the number of polls of both nodes before the listener stops, while the caller
  ///   continues to wait
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8})
  void aPausedListenerDoesNotTakeAnAttemptForALoss(int polls) {
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

  /// Checks both sides of a handshake with an inactive peer: with a long connect deadline, which is
  /// used where processors are scarce, a node does not give up an attempt as soon as with a short
  /// one.
  @ParameterizedTest
  @CsvSource({"15, 5", "60, 5", "600, 50"})
  void aLongConnectDeadlineAllowsALongHandshake(int deadlineSeconds, int staySeconds)
      throws IOException {
    Duration deadline = Duration.ofSeconds(deadlineSeconds);
    try (Node node = Node.open(tcp, "127.0.0.1", deadline, Node.credentials(0));
        ServerSocketChannel deaf = ServerSocketChannel.open();
        SocketChannel dumb = SocketChannel.open(listening(node))) {
      deaf.bind(new InetSocketAddress("127.0.0.1", 0)).configureBlocking(false);
      dumb.configureBlocking(false);
      long start = System.nanoTime();
      var unused =
          node.transport()
              .connect(new Address("tcp", "127.0.0.1:" + deaf.socket().getLocalPort()), 1);
      poll(node, start);
      assertThat(accepted(deaf)).isEqualTo(1);

      poll(node, start + TimeUnit.SECONDS.toNanos(staySeconds) - MARGIN);
      assertThat(ended(dumb)).isFalse();
      poll(node, start + TimeUnit.SECONDS.toNanos(staySeconds) + MARGIN);
      assertThat(ended(dumb)).isTrue();

      poll(node, start + 2 * TimeUnit.SECONDS.toNanos(staySeconds) - MARGIN);
      assertThat(accepted(deaf)).isZero();
      poll(node, start + 2 * TimeUnit.SECONDS.toNanos(staySeconds) + MARGIN);
      poll(node, start + 2 * TimeUnit.SECONDS.toNanos(staySeconds) + 2 * MARGIN);
      assertThat(accepted(deaf)).isEqualTo(1);
    }
  }

  private static InetSocketAddress listening(Node node) {
    String location = node.address().location();
    return new InetSocketAddress(
        "127.0.0.1", Integer.parseInt(location.substring(location.lastIndexOf(':') + 1)));
  }

  private static void poll(Node node, long now) {
    for (int i = 0; i < 10; i++) {
      node.transport().poll(now);
    }
  }

  private static int accepted(ServerSocketChannel listener) throws IOException {
    int count = 0;
    for (SocketChannel one = listener.accept(); one != null; one = listener.accept()) {
      count++;
    }
    return count;
  }

  private static boolean ended(SocketChannel socket) {
    try {
      return socket.read(ByteBuffer.allocate(1)) < 0;
    } catch (IOException reset) {
      return true;
    }
  }

  private static boolean isConnected(Node one, Node other) {
    return !one.connected().isEmpty() && !other.connected().isEmpty();
  }
}
