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

/// One contestant's place: all its ranks connect here. `turn` is confined to one thread; another
/// may close.
final class TurnClient implements AutoCloseable {

  private final Path path;
  private final ServerSocketChannel listener;

  /// Guarded by this, for `close`.
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

  /// Lets all ranks work, blocks until all have passed the turn on. False if one has ended, or none
  /// came before this was closed.
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
      return false; // why, its program tells
    }
  }

  /// Blocks until all have connected; false if this is closed before.
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

  /// Ends a `turn` that waits. Any thread; more than once does no harm.
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
