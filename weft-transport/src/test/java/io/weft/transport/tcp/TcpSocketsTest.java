// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;

class TcpSocketsTest {

  @Test
  void aPeerOnThisHostGetsASmallSendBuffer() throws IOException {
    try (ServerSocketChannel listener = ServerSocketChannel.open();
        SocketChannel dialled = TcpSockets.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      dialled.configureBlocking(true);
      dialled.connect(listener.getLocalAddress());
      int unknownPeer = dialled.getOption(StandardSocketOptions.SO_SNDBUF);
      TcpSockets.connected(dialled);
      try (SocketChannel accepted = listener.accept()) {
        TcpSockets.accepted(accepted);
        // Linux reports twice the requested size.
        int most = 2 * TcpSockets.HOST_SEND_BYTES;
        assertThat(dialled.getOption(StandardSocketOptions.SO_SNDBUF))
            .isNotEqualTo(unknownPeer)
            .isLessThanOrEqualTo(most);
        assertThat(accepted.getOption(StandardSocketOptions.SO_SNDBUF)).isLessThanOrEqualTo(most);
        assertThat(dialled.getOption(StandardSocketOptions.SO_RCVBUF)).isGreaterThan(most);
      }
    }
  }
}
