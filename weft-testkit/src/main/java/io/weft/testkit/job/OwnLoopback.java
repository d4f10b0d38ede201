// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/// A loopback address to which no other process binds by accident, for tests that must name a port
/// before the process that binds it has started. On 127.0.0.1 another test may take such a port in
/// the meantime.
public final class OwnLoopback {

  private static final int LOW_BITS = 7;
  private static final int MIDDLE_BITS = 8;

  private OwnLoopback() {}

  /// Returns the address of this process: `127.A.B.C`, derived from its id.
  public static InetAddress address() {
    long pid = ProcessHandle.current().pid();
    long low = pid & ((1 << LOW_BITS) - 1);
    long middle = (pid >> LOW_BITS) & ((1 << MIDDLE_BITS) - 1);
    long high = (pid >> (LOW_BITS + MIDDLE_BITS)) & ((1 << LOW_BITS) - 1);
    try {
      return InetAddress.getByAddress(
          new byte[] {127, (byte) (1 + high), (byte) middle, (byte) (1 + low)});
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /// Returns the address and the first of `count` consecutive free ports, as `HOST:PORT`.
  public static String free(int count) {
    InetAddress address = address();
    while (true) {
      try (var first = new ServerSocket(0, 1, address)) {
        if (areFree(address, first.getLocalPort() + 1, count - 1)) {
          return address.getHostAddress() + ":" + first.getLocalPort();
        }
      } catch (IOException none) {
        throw new UncheckedIOException("no port is free on " + address, none);
      }
    }
  }

  private static boolean areFree(InetAddress address, int port, int count) {
    if (count == 0) {
      return true;
    }
    try (var _ = new ServerSocket(port, 1, address)) {
      return areFree(address, port + 1, count - 1);
    } catch (IOException | IllegalArgumentException taken) {
      return false;
    }
  }
}
