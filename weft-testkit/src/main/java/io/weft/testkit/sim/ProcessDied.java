// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import java.io.Serial;

/// The error that ends the program of a dead process: every call of the program throws it. It must
/// not be caught.
final class ProcessDied extends Error {

  @Serial private static final long serialVersionUID = 1L;

  ProcessDied(String why) {
    super(why, null, false, false);
  }
}
