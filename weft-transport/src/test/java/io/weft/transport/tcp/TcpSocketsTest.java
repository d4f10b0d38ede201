// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TcpSocketsTest {

  @ParameterizedTest
  @ValueSource(ints = {64 << 10, 128 << 10, 512 << 10})
  void aPeerOfThisHostIsSentLittleAtATime(int pieceBytes) throws IOException {
    try (ServerSocketChannel listener = ServerSocketChannel.open();
        SocketChannel dialled = TcpSockets.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      dialled.configureBlocking(true);
      dialled.connect(listener.getLocalAddress());
      int unknownPeer = dialled.getOption(StandardSocketOptions.SO_SNDBUF);
      TcpSockets.connected(dialled, pieceBytes);
      try (SocketChannel accepted = listener.accept()) {
        TcpSockets.accepted(accepted, pieceBytes);
        // Linux reports twice of what was asked for.
        int most = 2 * TcpSockets.hostSendBytes(pieceBytes);
        assertThat(dialled.getOption(StandardSocketOptions.SO_SNDBUF))
            .isNotEqualTo(unknownPeer)
            .isLessThanOrEqualTo(most);
        assertThat(accepted.getOption(StandardSocketOptions.SO_SNDBUF)).isLessThanOrEqualTo(most);
        assertThat(dialled.getOption(StandardSocketOptions.SO_RCVBUF)).isGreaterThan(most);
        assertThat(TcpTransport.capabilities(pieceBytes).hostPieceBytes()).isEqualTo(pieceBytes);
      }
    }
  }
}
