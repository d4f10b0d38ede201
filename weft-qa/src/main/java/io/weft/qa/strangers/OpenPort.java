// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.strangers;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;

/// A port of a job that any client can reach.
///
/// @param address its address
/// @param store true if the job's store listens on it, false for a rank
record OpenPort(InetSocketAddress address, boolean store) {

  /// The time within which a store sends its first bytes. A rank waits for the client.
  private static final int IDLE_MILLIS = 1_000;

  private static final int MOST_WAIT_MILLIS = 6_000;

  /// Determines the listener at `address`.
  static OpenPort at(InetSocketAddress address) throws IOException {
    try (Socket socket = new OpenPort(address, false).open(IDLE_MILLIS)) {
      byte[] magic = HostileBytes.storeMagic();
      byte[] heard = socket.getInputStream().readNBytes(magic.length);
      return new OpenPort(address, Arrays.equals(heard, magic));
    } catch (java.net.SocketTimeoutException silent) {
      return new OpenPort(address, false);
    }
  }

  private Socket open(int millis) throws IOException {
    var socket = new Socket();
    try {
      socket.connect(address, MOST_WAIT_MILLIS);
      socket.setSoTimeout(millis);
      return socket;
    } catch (IOException unreachable) {
      socket.close();
      throw unreachable;
    }
  }

  /// Opens one connection.
  Visit visit() throws IOException {
    return new Visit(open(MOST_WAIT_MILLIS));
  }

  /// One connection of a stranger.
  record Visit(Socket socket) implements AutoCloseable {

    void say(byte[]... parts) throws IOException {
      for (byte[] part : parts) {
        socket.getOutputStream().write(part);
      }
    }

    /// Receives up to `bytes` bytes, fewer if the connection ends. Throws after 6 s without data.
    byte[] hear(int bytes) throws IOException {
      return socket.getInputStream().readNBytes(bytes);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
