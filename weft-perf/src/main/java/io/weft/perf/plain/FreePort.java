// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plain;

import io.weft.perf.process.PerfException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;

/// A free port for a program that cannot choose one itself.
public final class FreePort {

  private FreePort() {}

  /// Returns a TCP port that is now unused on the loopback address. Throws `PerfException.Failed`
  /// if all ports are in use.
  public static int onLoopback() {
    try (ServerSocketChannel free = ServerSocketChannel.open()) {
      free.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      return ((InetSocketAddress) free.getLocalAddress()).getPort();
    } catch (IOException refused) {
      throw new PerfException.Failed("there is no free port on loopback: " + refused, refused);
    }
  }
}
