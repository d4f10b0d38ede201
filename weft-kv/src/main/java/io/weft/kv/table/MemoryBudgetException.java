// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// A table or tensor part needs more memory than its budget has. The operation has had no effect,
/// and the table and its values remain usable.
public final class MemoryBudgetException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  MemoryBudgetException(String message) {
    super(message);
  }
}
