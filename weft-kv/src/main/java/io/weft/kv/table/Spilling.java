// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import io.weft.kv.spill.RowStore;
import java.util.Objects;

/// Where rows of a table go that find no room.
///
/// @param memoryBytes that rows in memory may take, with their places in the index
/// @param store of rows of `RowTableSpec.rowBytes`; the table's, which closes it
public record Spilling(long memoryBytes, RowStore store) {

  /// Checks the bound.
  public Spilling {
    Objects.requireNonNull(store, "store");
    if (memoryBytes < 1) {
      throw new IllegalArgumentException(memoryBytes + " bytes of memory hold no rows");
    }
  }
}
