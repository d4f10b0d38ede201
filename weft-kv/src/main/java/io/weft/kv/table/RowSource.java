// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The rows of a snapshot by their places in memory, and then the rows that are not in memory. One
/// thread.
///
/// @param since rows that were last used before this step are omitted; 0 = none are
/// @param stored rows that are not in memory; null if there are none
record RowSource(RowMemory memory, int since, TableSink sink, RowSpill.@Nullable Frozen stored)
    implements TableSnapshot.Source {

  @Override
  public void emit(int row) {
    if (!memory.isUsed(row) || memory.step(row) < since) {
      return;
    }
    if (stored != null) {
      stored.passed(row);
    }
    if (memory.pulled(row) == 0) {
      sink.row(memory.in(row), memory.at(row), memory.rowBytes());
    } else {
      MemorySegment copy = MemorySegment.ofArray(new byte[memory.rowBytes()]);
      memory.write(row, copy, 0);
      RowMemory.withoutPull(copy, 0);
      sink.row(copy, 0, memory.rowBytes());
    }
  }

  @Override
  public boolean emitRest(int most) {
    if (stored != null && !stored.isDone()) {
      stored.next(most, since, sink);
    }
    return stored == null || stored.isDone();
  }

  @Override
  public void close() {
    if (stored != null) {
      stored.close();
    }
  }
}
