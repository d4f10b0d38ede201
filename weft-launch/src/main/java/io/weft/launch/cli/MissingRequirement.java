// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.io.Serial;

/// Thrown if a requirement of the command is missing; the message names it and the way to get it.
final class MissingRequirement extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  MissingRequirement(String message) {
    super(message);
  }
}
