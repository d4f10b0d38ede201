// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import java.lang.foreign.MemorySegment;

/// A receiver of a table's content on a shard. It must not throw.
interface ShardSink {

  /// Receives a row, which is borrowed for the call.
  void row(MemorySegment memory, long at, int bytes);

  /// Receives bytes of a tensor's part, which it may keep.
  ///
  /// @param at offset of the first byte in the part
  void elements(int part, long at, byte[] content, int count);
}
