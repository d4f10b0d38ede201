// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

import java.lang.foreign.MemorySegment;

/// What one shard has of a table, to be changed. Optimizer slots stay as they are. Borrowed for the
/// call, on the shard's thread.
public interface ShardChanges extends ShardValues {

  /// Puts these in the place of the values that are there. A row that there is not is made, as a
  /// push makes it. Inside `forEach`, only for the row or part that is shown.
  ///
  /// @param at key of the row or value; of a tensor the number of the first element
  /// @param values FLOAT32: of a row or value all of them, of a tensor those of one part at most
  void assign(long at, MemorySegment values);

  /// Adds these to the values that are there; the same else.
  void add(long at, MemorySegment values);
}
