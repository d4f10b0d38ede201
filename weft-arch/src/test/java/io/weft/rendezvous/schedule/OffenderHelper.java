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

  long clock() {
    return System.nanoTime();
  }

  Object console() {
    return List.of(System.out);
  }
}
