// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// One shard's values of a table. Borrowed for the call, on the shard's thread.
public interface ShardValues {

  /// Returns the specification of the table.
  TableSpec spec();

  /// Visits all existing rows, or all parts of a tensor.
  void forEach(ValuesVisitor visitor);

  /// Returns the same shard of another table, by its name.
  Optional<ShardValues> table(String name);

  /// A visitor of values.
  @FunctionalInterface
  interface ValuesVisitor {

    /// @param at key of the row; of a tensor the index of its first element here
    /// @param values FLOAT32; read-only, borrowed for the call
    void values(long at, MemorySegment values);
  }
}
