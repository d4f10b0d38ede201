// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import java.io.Serial;

/// The peer broke the protocol; the message goes on after "received ".
public final class VerbsFault extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  /// With what was received.
  public VerbsFault(String message) {
    super(message);
  }
}
