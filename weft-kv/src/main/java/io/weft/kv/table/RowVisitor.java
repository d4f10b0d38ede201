// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.lang.foreign.MemorySegment;

/// A visitor of a table's rows.
@FunctionalInterface
public interface RowVisitor {

  /// @param key of the row
  /// @param lastStep of its last use
  /// @param values FLOAT32, then its slots; read-only, borrowed for the call
  void row(long key, long lastStep, MemorySegment values);
}
