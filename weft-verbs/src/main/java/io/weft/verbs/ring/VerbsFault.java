// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import java.io.Serial;

/// Signals a protocol violation by the peer; the message completes a sentence that begins with
/// "received ".
public final class VerbsFault extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  /// Creates a fault; the message must describe the received data.
  public VerbsFault(String message) {
    super(message);
  }
}
