// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import java.io.Serial;

/// A command line that cannot be carried out. The message names option, value and what is allowed.
final class BadOption extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  BadOption(String message) {
    super(message);
  }

  /// "--epochs x: expected a whole number".
  static BadOption of(String option, String value, String expected) {
    return new BadOption(option + " " + value + ": expected " + expected);
  }
}
