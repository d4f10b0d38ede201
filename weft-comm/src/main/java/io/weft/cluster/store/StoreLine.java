// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.transport.tls.TlsParty;
import io.weft.transport.tls.TlsStreams;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Optional;

/// One socket between a client and its store, encrypted or not, with nothing said yet.
///
/// @param socket for time limits and to end it
/// @param in what the other side says; unbuffered
/// @param out leaves with `flush`
/// @param binding what only the two ends know; empty where it is not encrypted
record StoreLine(Socket socket, InputStream in, OutputStream out, byte[] binding) {

  private static final byte[] NO_BINDING = {};

  /// The client's end. Throws `SSLException` where the other end's TLS is not as it must be.
  static StoreLine call(Socket socket, Optional<TlsParty> party) throws IOException {
    return party.isEmpty() ? plain(socket) : over(socket, party.get(), true);
  }

  /// The server's end; throws as `call`.
  static StoreLine answer(Socket socket, Optional<TlsParty> party) throws IOException {
    return party.isEmpty() ? plain(socket) : over(socket, party.get(), false);
  }

  private static StoreLine plain(Socket socket) throws IOException {
    return new StoreLine(socket, socket.getInputStream(), socket.getOutputStream(), NO_BINDING);
  }

  private static StoreLine over(Socket socket, TlsParty party, boolean calling) throws IOException {
    var tls =
        new TlsStreams(
            calling ? party.call() : party.answer(),
            socket.getInputStream(),
            socket.getOutputStream());
    tls.shake();
    return new StoreLine(socket, tls.input(), tls.output(), tls.binding());
  }
}
