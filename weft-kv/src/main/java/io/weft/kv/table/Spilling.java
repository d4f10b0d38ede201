// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import io.weft.kv.spill.RowStore;
import java.util.Objects;

/// The destination of rows that do not fit into memory.
///
/// @param memoryBytes the limit of the rows in memory, including their index entries
/// @param store of rows of `RowTableSpec.rowBytes`; owned by the table, which closes it
public record Spilling(long memoryBytes, RowStore store) {

  /// Checks the limit.
  public Spilling {
    Objects.requireNonNull(store, "store");
    if (memoryBytes < 1) {
      throw new IllegalArgumentException(memoryBytes + " bytes of memory hold no rows");
    }
  }
}
