// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.kv.key.KeyList;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// The rows of one table in a pull of several tables.
///
/// @param table a table of the pulling worker
/// @param keys a list of this table
/// @param into the destination of FLOAT32 rows in the order of the keys
public record TablePull(KvTable table, KeyList keys, MemorySegment into) {

  /// Throws `NullPointerException` if a component is null.
  public TablePull {
    Objects.requireNonNull(table, "table");
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(into, "into");
  }
}
