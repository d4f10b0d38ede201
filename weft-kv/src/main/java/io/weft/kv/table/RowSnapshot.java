// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The rows of a table as of one moment. They are emitted in parts while the table changes: a row
/// that is about to change or to be removed is emitted first. Takes one bit per row, and 8 to 32
/// bytes per row in memory that the store also has. Owned; confined to the table's thread.
public final class RowSnapshot implements AutoCloseable {

  private final RowMemory memory;
  private final int since;
  private final RowSink sink;
  private final RowSpill.@Nullable Frozen stored;
  private final Consumer<RowSnapshot> onClose;
  private final int end;
  private final long[] passed;
  private int next;
  private long rows;

  /// @param stored rows that are not in memory; null if there are none
  RowSnapshot(
      RowMemory memory,
      int since,
      RowSink sink,
      RowSpill.@Nullable Frozen stored,
      Consumer<RowSnapshot> onClose) {
    this.stored = stored;
    this.memory = memory;
    this.since = since;
    this.sink = sink;
    this.onClose = onClose;
    this.end = memory.end();
    this.passed = new long[(end >>> 6) + 1];
  }

  /// Emits the rows at the next places and then the rows that are not in memory. Returns whether
  /// all rows have been emitted. Throws `RowStoreException` if the store cannot be read.
  ///
  /// @param places the maximum number of places to visit
  public boolean advance(int places) {
    int stop = (int) Math.min(end, (long) next + places);
    for (; next < stop; next++) {
      if (memory.isUsed(next)) {
        before(next);
      }
    }
    if (next < end) {
      return false;
    }
    if (stored != null && !stored.isDone()) {
      rows += stored.next(places, since, sink);
    }
    return stored == null || stored.isDone();
  }

  /// Returns the number of emitted rows.
  public long rows() {
    return rows;
  }

  /// Emits rows that are about to change. -1 stands for no row.
  ///
  /// Hot path.
  void before(int[] changing, int first, int count) {
    for (int i = first; i < first + count; i++) {
      before(changing[i]);
    }
  }

  /// Emits a row that is about to change or to be removed. -1 stands for no row.
  ///
  /// Hot path.
  void before(int row) {
    if (row < 0 || row >= end || !pass(row) || memory.step(row) < since) {
      return;
    }
    if (stored != null) {
      stored.passed(row);
    }
    rows++;
    if (memory.pulled(row) == 0) {
      sink.row(memory.in(row), memory.at(row), memory.rowBytes());
    } else {
      MemorySegment copy = MemorySegment.ofArray(new byte[memory.rowBytes()]);
      memory.write(row, copy, 0);
      RowMemory.withoutPull(copy, 0);
      sink.row(copy, 0, memory.rowBytes());
    }
  }

  /// Records that a new row was created, possibly at the place of a removed one.
  void made(int row) {
    if (row < end) {
      pass(row);
    }
  }

  /// Marks a place as visited and returns whether it was not marked before.
  private boolean pass(int row) {
    long bit = 1L << row;
    if ((passed[row >>> 6] & bit) != 0) {
      return false;
    }
    passed[row >>> 6] |= bit;
    return true;
  }

  /// Ends the snapshot. Rows that have not been emitted are not part of it.
  @Override
  public void close() {
    if (stored != null) {
      stored.close();
    }
    onClose.accept(this);
  }
}
