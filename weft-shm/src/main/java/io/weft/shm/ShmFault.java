// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.io.Serial;

/// The peer broke the protocol; the message goes on after "received ".
final class ShmFault extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  ShmFault(String message) {
    super(message);
  }
}
