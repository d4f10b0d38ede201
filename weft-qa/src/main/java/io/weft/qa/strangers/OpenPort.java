// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.strangers;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;

/// A port of a job that anybody can reach.
///
/// @param address where it is
/// @param store whether the job's store listens there, else a rank does
record OpenPort(InetSocketAddress address, boolean store) {

  /// Who listens speaks first where it is the store.
  private static final int IDLE_MILLIS = 1_000;

  private static final int MOST_WAIT_MILLIS = 6_000;

  /// Finds out who listens there.
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

  /// One connection.
  Visit visit() throws IOException {
    return new Visit(open(MOST_WAIT_MILLIS));
  }

  /// One connection as its stranger has it.
  record Visit(Socket socket) implements AutoCloseable {

    void say(byte[]... parts) throws IOException {
      for (byte[] part : parts) {
        socket.getOutputStream().write(part);
      }
    }

    /// So many bytes, or what comes before the end or in 6 s.
    byte[] hear(int bytes) throws IOException {
      return socket.getInputStream().readNBytes(bytes);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
