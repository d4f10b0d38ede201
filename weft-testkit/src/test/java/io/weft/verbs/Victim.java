// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import io.weft.transport.TransportException;
import java.util.concurrent.locks.LockSupport;

/// A process that something happens to. Says on its output what the test has to know.
final class Victim {

  static final long BYTES = 256 << 10;

  private Victim() {}

  /// `peer`: takes a connection and then nothing more. `pin`: tries to register memory.
  public static void main(String[] arguments) {
    try (Party party = new Party(1)) {
      if (arguments[0].equals("pin")) {
        pin(party);
        return;
      }
      MemoryRegion region = party.transport.allocate(BYTES);
      RemoteRegion shown = region.export();
      System.out.println(party.transport.address() + " " + shown.key() + " " + shown.incarnation());
      Party.until(() -> !party.connected.isEmpty(), "a connection", party);
      while (true) {
        LockSupport.park();
      }
    }
  }

  private static void pin(Party party) {
    try (MemoryRegion region = party.transport.allocate(1 << 20)) {
      System.out.println("registered " + region.segment().byteSize());
    } catch (TransportException.Registration e) {
      System.out.println("Registration: " + e.getMessage());
    }
  }
}
