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
    return party.isEmpty()
        ? plain(socket)
        : over(socket, socket.getInputStream(), party.get().call());
  }

  /// The server's end; throws as `call`. Who says nothing costs no memory of TLS.
  static StoreLine answer(Socket socket, Optional<TlsParty> party) throws IOException {
    if (party.isEmpty()) {
      return plain(socket);
    }
    var in = new PushbackInputStream(socket.getInputStream());
    int first = in.read();
    if (first < 0) {
      throw new EOFException("it left without a word");
    }
    in.unread(first);
    return over(socket, in, party.get().answer());
  }

  private static StoreLine plain(Socket socket) throws IOException {
    return new StoreLine(socket, socket.getInputStream(), socket.getOutputStream(), NO_BINDING);
  }

  private static StoreLine over(Socket socket, InputStream in, TlsPipe pipe) throws IOException {
    var tls = new TlsStreams(pipe, in, socket.getOutputStream());
    tls.handshake();
    return new StoreLine(socket, tls.input(), tls.output(), tls.binding());
  }
}
