// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import java.io.Serial;

/// A command line with an error. The message names the option, its value and the allowed values.
final class BadOption extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  BadOption(String message) {
    super(message);
  }

  /// Returns an error such as "--epochs x: expected a whole number".
  static BadOption of(String option, String value, String expected) {
    return new BadOption(option + " " + value + ": expected " + expected);
  }
}
