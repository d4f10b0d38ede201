// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

import java.lang.foreign.MemorySegment;

/// One shard's values of a table, which a change may modify. Optimizer slots do not change.
/// Borrowed for the call, on the shard's thread.
public interface ShardChanges extends ShardValues {

  /// Replaces values. A missing row is created, as by a push. Inside `forEach` only the visited row
  /// or part may be changed.
  ///
  /// @param at key of the row or value; of a tensor the index of the first element
  /// @param values FLOAT32: all elements of a row or value; of a tensor at most those of one part
  void assign(long at, MemorySegment values);

  /// Adds to values, under the same conditions as `assign`.
  void add(long at, MemorySegment values);
}
