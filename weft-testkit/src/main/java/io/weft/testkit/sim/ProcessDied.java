// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import java.io.Serial;

/// Ends the program of a process that has died in a simulation: whatever it calls throws this. Not
/// to be caught.
final class ProcessDied extends Error {

  @Serial private static final long serialVersionUID = 1L;

  ProcessDied(String why) {
    super(why, null, false, false);
  }
}
