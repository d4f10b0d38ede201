// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import io.weft.kv.spec.TableStatistics;
import java.lang.foreign.MemorySegment;

/// The content of one shard's part of a table, with the slots of its update rule: rows, values of
/// any length, or parts of a tensor. Checkpoints, copies to mirrors, restore and statistics use it.
/// Confined to one thread.
public sealed interface TableStorage extends AutoCloseable
    permits RowTable, TensorTable, ValueTable {

  /// Returns a snapshot of the current content, which is emitted in parts while the table changes.
  ///
  /// @param since rows and values that were last used before this step are omitted; 0 = none are
  /// @param sink receives each row, value or block of elements once, from `TableSnapshot.advance`
  ///   or from the calls that change the table
  TableSnapshot snapshot(long since, TableSink sink);

  /// Loads content of a snapshot of a table of the same width and rule. It replaces the content at
  /// the same keys or elements. Throws `IllegalArgumentException` or `IndexOutOfBoundsException`,
  /// before any change, if the bytes are not content of this table, and `MemoryBudgetException`.
  ///
  /// @param part of a tensor; 0 for rows and values
  /// @param at offset of the first byte in the part; 0 for rows and values
  void load(int part, long at, MemorySegment content);

  /// Returns the number of rows that were removed or evicted. A snapshot since a step does not show
  /// that they are missing.
  default long removed() {
    return 0;
  }

  /// Returns the statistics of this content since its creation.
  TableStatistics statistics();

  /// Frees the content and returns its memory to the budget.
  @Override
  void close();
}
