// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.io.Serial;

/// An input that cost more memory or time than its length allows.
final class Excess extends AssertionError {

  @Serial private static final long serialVersionUID = 1L;

  Excess(String message) {
    super(message);
  }
}
