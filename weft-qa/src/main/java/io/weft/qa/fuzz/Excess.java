// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.io.Serial;

/// The failure of an input that took more memory or time than allowed.
final class Excess extends AssertionError {

  @Serial private static final long serialVersionUID = 1L;

  Excess(String message) {
    super(message);
  }
}
