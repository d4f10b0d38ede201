// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// What one shard has of a table. Borrowed for the call, on the shard's thread.
public interface ShardValues {

  /// The table.
  TableSpec spec();

  /// Shows all rows that there are, or all parts of a tensor.
  void forEach(ValuesVisitor visitor);

  /// The same shard of another table, by its name.
  Optional<ShardValues> table(String name);

  /// Sees values.
  @FunctionalInterface
  interface ValuesVisitor {

    /// @param at key of the row; of a tensor the number of its first element here
    /// @param values FLOAT32; read-only, borrowed for the call
    void values(long at, MemorySegment values);
  }
}
