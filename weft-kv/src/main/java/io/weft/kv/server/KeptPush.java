// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.server.ShardTable.Subject;
import java.lang.foreign.MemorySegment;

/// A push that waits for those of other workers, in memory of `KeptMemory`. Confined to the shard's
/// thread, except `values`.
final class KeptPush {

  private final Subject subject;
  private final MemorySegment block;
  private final MemorySegment values;
  private boolean lent;

  /// Copies the values of a push.
  ///
  /// @param subject keys or part
  /// @param block memory of at least the values' length
  KeptPush(Subject subject, MemorySegment block, MemorySegment values) {
    this.subject = subject;
    this.block = block;
    this.values = block.asSlice(0, values.byteSize()).copyFrom(values);
  }

  Subject subject() {
    return subject;
  }

  MemorySegment values() {
    return values;
  }

  /// Returns the bytes that are reserved from the budget.
  long bytes() {
    return values.byteSize();
  }

  /// Returns the memory, for its next use.
  MemorySegment block() {
    return block;
  }

  /// Excludes the memory from reuse, because somebody may read the values later.
  void lend() {
    lent = true;
  }

  /// Returns whether somebody may read the values later.
  boolean isLent() {
    return lent;
  }
}
