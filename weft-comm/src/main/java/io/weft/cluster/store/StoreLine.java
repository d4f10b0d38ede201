// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.transport.tls.TlsParty;
import io.weft.transport.tls.TlsPipe;
import io.weft.transport.tls.TlsStreams;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PushbackInputStream;
import java.net.Socket;
import java.util.Optional;

/// One socket between a client and its store, encrypted or not, before any data is sent.
///
/// @param socket the socket, for time limits and for closing
/// @param in the data from the other side; unbuffered
/// @param out the data to the other side, sent by `flush`
/// @param binding data that only the two ends know; empty if the connection is not encrypted
record StoreLine(Socket socket, InputStream in, OutputStream out, byte[] binding) {

  private static final byte[] NO_BINDING = {};

  /// Opens the client's end. Throws `SSLException` if the other end's TLS is invalid.
  static StoreLine call(Socket socket, Optional<TlsParty> party) throws IOException {
    return party.isEmpty()
        ? plain(socket)
        : secure(socket, socket.getInputStream(), party.get().call());
  }

  /// Opens the server's end. Throws as `call` does. A client that sends nothing causes no
  /// allocation for TLS.
  static StoreLine answer(Socket socket, Optional<TlsParty> party) throws IOException {
    if (party.isEmpty()) {
      return plain(socket);
    }
    var in = new PushbackInputStream(socket.getInputStream());
    int first = in.read();
    if (first < 0) {
      throw new EOFException("it closed the connection without sending anything");
    }
    in.unread(first);
    return secure(socket, in, party.get().answer());
  }

  private static StoreLine plain(Socket socket) throws IOException {
    return new StoreLine(socket, socket.getInputStream(), socket.getOutputStream(), NO_BINDING);
  }

  private static StoreLine secure(Socket socket, InputStream in, TlsPipe pipe) throws IOException {
    var tls = new TlsStreams(pipe, in, socket.getOutputStream());
    tls.handshake();
    return new StoreLine(socket, tls.input(), tls.output(), tls.binding());
  }
}
