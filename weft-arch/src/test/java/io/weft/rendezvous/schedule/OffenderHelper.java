// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.schedule;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Linker;
import java.net.Socket;
import java.util.List;

/// A class that breaks one rule with each member, and one with its name.
public final class OffenderHelper {

  Communicator sibling;
  Weft above;
  Socket socket;
  Linker nativeCode;
  LocalJob testkit;
  Thread impure;

  OffenderHelper(int one, int two, int three, int four, int five, int six) {}

  /// A record of too many components.
  public record Wide(
      int one, int two, int three, int four, int five, int six, int seven, int eight, int nine) {}

  long clock() {
    return System.nanoTime();
  }

  Object console() {
    return List.of(System.out);
  }
}
