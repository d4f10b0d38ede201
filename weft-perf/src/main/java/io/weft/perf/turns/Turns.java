// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.turns;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A rank's connection to the scheduler. The rank works only during its contestant's turn. Without
/// a scheduler, it is always its turn. Confined to one thread.
public final class Turns implements AutoCloseable {

  /// The variable that names the socket of a contestant.
  public static final String VARIABLE = "WEFT_PERF_TURNS";

  private final @Nullable SocketChannel turnClient;
  private final ByteBuffer word = ByteBuffer.allocate(1);

  private Turns(@Nullable SocketChannel turnClient) {
    this.turnClient = turnClient;
  }

  /// Connects as one of `ranks` ranks if `environment` names a socket, then blocks until it is this
  /// contestant's turn. Throws `IllegalStateException` if no scheduler listens at the socket.
  public static Turns join(Map<String, String> environment, int ranks) {
    String path = environment.get(VARIABLE);
    if (path == null) {
      return new Turns(null);
    }
    Turns turns = new Turns(connected(path));
    turns.say((byte) ranks);
    turns.await();
    return turns;
  }

  /// Returns true if there may be other contestants.
  public boolean hasOthers() {
    return turnClient != null;
  }

  /// Ends this contestant's turn and blocks until its next one. Throws `IllegalStateException` if
  /// the scheduler has ended.
  public void passOn() {
    if (turnClient != null) {
      say((byte) 1);
      await();
    }
  }

  @Override
  public void close() {
    if (turnClient != null) {
      try {
        turnClient.close();
      } catch (IOException e) {
        throw gone(e);
      }
    }
  }

  private static SocketChannel connected(String path) {
    try {
      SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      channel.connect(UnixDomainSocketAddress.of(path));
      return channel;
    } catch (IOException e) {
      throw gone(e);
    }
  }

  private void say(byte what) {
    try {
      turnClient().write(word.clear().put(what).flip());
    } catch (IOException e) {
      throw gone(e);
    }
  }

  private void await() {
    try {
      if (turnClient().read(word.clear()) != 1) {
        throw new IllegalStateException("weft perf ended before its ranks");
      }
    } catch (IOException e) {
      throw gone(e);
    }
  }

  private SocketChannel turnClient() {
    if (turnClient == null) {
      throw new IllegalStateException("this rank has no turn client");
    }
    return turnClient;
  }

  private static IllegalStateException gone(IOException e) {
    return new IllegalStateException(
        "cannot reach weft perf through " + VARIABLE + ": " + e.getMessage(), e);
  }
}
