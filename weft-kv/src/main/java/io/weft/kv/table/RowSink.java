// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.lang.foreign.MemorySegment;

/// A receiver of a snapshot's rows. It must not throw, because changes of the table also call it.
@FunctionalInterface
public interface RowSink {

  /// @param memory contains the row in the format of `RowTable.importRows`; borrowed for the call
  /// @param at offset of its first byte
  /// @param bytes its length
  void row(MemorySegment memory, long at, int bytes);
}
