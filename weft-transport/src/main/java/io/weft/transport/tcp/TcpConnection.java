// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.region.RegionTable;
import java.io.IOException;
import java.nio.channels.SelectionKey;

/// The connection state of an endpoint whose peer is authenticated.
record TcpConnection(
    SocketStream stream,
    SelectionKey key,
    long peerIncarnation,
    TcpOutbound outbound,
    TcpInbound inbound,
    PostedReads reads) {

  static TcpConnection of(
      SocketStream stream,
      SelectionKey key,
      long peerIncarnation,
      TcpTransport transport,
      TcpInbound.FrameListener listener) {
    RegionTable table = transport.table();
    PostedReads reads = new PostedReads(TcpOutbound.MAX_IN_FLIGHT);
    return new TcpConnection(
        stream,
        key,
        peerIncarnation,
        new TcpOutbound(table, transport.flushBytes()),
        new TcpInbound(table, reads, TcpTransport.MAX_MESSAGE_BYTES, listener),
        reads);
  }

  /// Passes pending bytes to the kernel as far as it accepts them.
  ///
  /// Hot path.
  void send() throws IOException {
    if (outbound.isPending()) {
      var unused = outbound.flush(stream);
    }
    if (!stream.flush()) {
      outbound.block();
    }
  }
}
