// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.host.HostPiece;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TcpSocketsTest {

  @ParameterizedTest
  @ValueSource(ints = {64 << 10, 128 << 10, 512 << 10})
  void aPeerOfThisHostIsSentLittleAtATime(int pieceBytes) throws IOException {
    HostPiece piece = HostPiece.of(Map.of("piece-bytes", "" + pieceBytes));
    try (ServerSocketChannel listener = ServerSocketChannel.open();
        SocketChannel dialled = TcpSockets.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      dialled.configureBlocking(true);
      dialled.connect(listener.getLocalAddress());
      int unknownPeer = dialled.getOption(StandardSocketOptions.SO_SNDBUF);
      TcpSockets.connected(dialled, piece);
      try (SocketChannel accepted = listener.accept()) {
        TcpSockets.accepted(accepted, piece);
        // Linux reports twice of what was asked for.
        int most = 2 * piece.sendBytes();
        assertThat(dialled.getOption(StandardSocketOptions.SO_SNDBUF))
            .isNotEqualTo(unknownPeer)
            .isLessThanOrEqualTo(most);
        assertThat(accepted.getOption(StandardSocketOptions.SO_SNDBUF)).isLessThanOrEqualTo(most);
        assertThat(dialled.getOption(StandardSocketOptions.SO_RCVBUF)).isGreaterThan(most);
        assertThat(TcpTransport.capabilities(piece).hostPieceBytes()).isEqualTo(pieceBytes);
      }
    }
  }
}
