// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import java.lang.foreign.MemorySegment;

/// Takes what a table's part consists of. Must not throw.
interface ShardSink {

  /// A row; borrowed for the call.
  void row(MemorySegment memory, long at, int bytes);

  /// Bytes of a tensor's part, which it may keep.
  ///
  /// @param at of the first of them in the part
  void elements(int part, long at, byte[] content, int count);
}
