// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.turns;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The scheduler's connections to all ranks of one contestant. `turn` is confined to one thread.
/// Another thread may close.
final class TurnClient implements AutoCloseable {

  private final Path path;
  private final ServerSocketChannel listener;

  /// Guarded by this object's monitor because `close` reads it.
  private final List<SocketChannel> ranks = new ArrayList<>();

  private boolean closed;

  /// Binds a socket at `path`.
  TurnClient(Path path) throws IOException {
    this.path = path;
    this.listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listener.bind(UnixDomainSocketAddress.of(path));
    path.toFile().deleteOnExit();
  }

  Path path() {
    return path;
  }

  /// Lets all ranks work and blocks until all have ended their turn. Returns false if a rank has
  /// closed its connection, or if this object was closed before all ranks had connected.
  boolean turn() throws IOException {
    if (ranks.isEmpty() && !haveCome()) {
      return false;
    }
    try {
      for (SocketChannel rank : ranks) {
        rank.write(ByteBuffer.wrap(new byte[] {1}));
      }
      boolean goOn = true;
      for (SocketChannel rank : ranks) {
        goOn &= rank.read(ByteBuffer.allocate(1)) == 1;
      }
      return goOn;
    } catch (IOException gone) {
      return false; // The rank's program reports the reason.
    }
  }

  /// Blocks until all ranks have connected. Returns false if this object is closed first.
  private boolean haveCome() throws IOException {
    try {
      int expected = 1;
      for (int r = 0; r < expected; r++) {
        SocketChannel rank = listener.accept();
        add(rank);
        ByteBuffer size = ByteBuffer.allocate(1);
        if (rank.read(size) == 1) {
          expected = Byte.toUnsignedInt(size.get(0));
        }
      }
      return true;
    } catch (ClosedChannelException e) {
      return false;
    }
  }

  private synchronized void add(SocketChannel rank) throws IOException {
    ranks.add(rank);
    if (closed) {
      rank.close();
    }
  }

  /// Ends a waiting `turn`. Any thread may call it, more than once.
  @Override
  public synchronized void close() throws IOException {
    closed = true;
    listener.close();
    for (SocketChannel rank : ranks) {
      rank.close();
    }
    Files.deleteIfExists(path);
  }
}
