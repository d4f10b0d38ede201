// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// A relay from its own port to another one. [#cut] ends its connections; later connections are
/// relayed again.
final class CutRelay implements AutoCloseable {

  private final ServerSocket listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  CutRelay(InetSocketAddress to) throws IOException {
    Thread.ofPlatform().daemon().start(() -> accept(to));
  }

  int port() {
    return listener.getLocalPort();
  }

  /// Ends all connections.
  void cut() throws IOException {
    for (Socket socket : open) {
      open.remove(socket);
      socket.close();
    }
  }

  private void accept(InetSocketAddress to) {
    try {
      while (true) {
        Socket near = listener.accept();
        Socket far = new Socket(to.getAddress(), to.getPort());
        open.add(near);
        open.add(far);
        Thread.ofPlatform().daemon().start(() -> pump(near, far));
        Thread.ofPlatform().daemon().start(() -> pump(far, near));
      }
    } catch (IOException closed) {
      assert listener.isClosed() : closed;
    }
  }

  private static void pump(Socket from, Socket to) {
    byte[] bytes = new byte[1 << 16];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        to.getOutputStream().write(bytes, 0, read);
      }
    } catch (IOException cut) {
      assert from.isClosed() || to.isClosed() : cut;
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    cut();
  }
}
