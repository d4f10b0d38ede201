// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.io.Serial;

/// Something that the command needs is not there; the message says what, and how to get it.
final class MissingRequirement extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  MissingRequirement(String message) {
    super(message);
  }
}
