// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import java.io.Serial;

/// The peer broke the protocol; the message goes on after "received ".
final class VerbsFault extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  VerbsFault(String message) {
    super(message);
  }
}
