// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// A table or tensor part would need more memory than its budget has. What was asked for is not
/// done; what the table held before it holds still, and all of it can be used.
public final class MemoryBudgetException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  MemoryBudgetException(String message) {
    super(message);
  }
}
