// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.region.RegionTable;
import java.io.IOException;
import java.nio.channels.SelectionKey;

/// What an endpoint has once its peer is proved.
record Link(
    SocketStream stream,
    SelectionKey key,
    long peerIncarnation,
    Outbound outbound,
    Inbound inbound,
    PostedReads reads) {

  static Link of(
      SocketStream stream,
      SelectionKey key,
      long peerIncarnation,
      RegionTable table,
      Inbound.Listener listener) {
    PostedReads reads = new PostedReads(Outbound.MAX_IN_FLIGHT);
    return new Link(
        stream,
        key,
        peerIncarnation,
        new Outbound(table),
        new Inbound(table, reads, TcpTransport.MAX_MESSAGE_BYTES, listener),
        reads);
  }

  /// Gives the kernel what it takes.
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
