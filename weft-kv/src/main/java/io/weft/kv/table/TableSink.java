// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.lang.foreign.MemorySegment;

/// A receiver of a snapshot's content. It must not throw, because changes of the table also call
/// it.
@FunctionalInterface
public interface TableSink {

  /// Receives a row or value.
  ///
  /// @param memory contains it in the format of `TableStorage.load`; borrowed for the call
  /// @param at offset of its first byte
  /// @param bytes its length
  void row(MemorySegment memory, long at, int bytes);

  /// Receives bytes of a tensor's part. Only a sink for tensors implements this.
  ///
  /// @param at offset of the first byte in the part
  /// @param content from 0 on; the sink may keep it
  default void elements(int part, long at, byte[] content, int count) {
    throw new IllegalStateException("this sink is for rows, but a part of a tensor has come");
  }
}
