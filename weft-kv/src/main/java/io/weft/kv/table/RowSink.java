// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.lang.foreign.MemorySegment;

/// Sees the rows of a snapshot. Must not throw: who changes the table calls it too.
@FunctionalInterface
public interface RowSink {

  /// @param memory in which the row lies, as `RowTable.importRows` takes it; borrowed for the call
  /// @param at of its first byte
  /// @param bytes of it
  void row(MemorySegment memory, long at, int bytes);
}
