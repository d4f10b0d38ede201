// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.io.Serial;

/// Signals a protocol violation by the peer; the message completes a sentence that begins with
/// "received ".
final class ShmFault extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  ShmFault(String message) {
    super(message);
  }
}
