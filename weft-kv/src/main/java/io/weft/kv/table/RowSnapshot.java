// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The rows of a table as they were when it was begun, taken out in parts while the table changes:
/// a row that is about to change or to go is taken out before it does. Takes one bit for each row,
/// and 8 to 32 bytes for each in memory of which the store has a copy. Owned; of the table's
/// thread.
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

  /// @param stored rows that are not in memory; null = there are none
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

  /// Takes out what there is among the next places of rows, and then of the rows that are not in
  /// memory; whether all are out. Throws `RowStoreException` where those cannot be read.
  ///
  /// @param places at most so many are looked at
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

  /// How many rows were taken out.
  public long rows() {
    return rows;
  }

  /// Rows are about to change; those that are -1 are none.
  ///
  /// Hot path.
  void before(int[] changing, int first, int count) {
    for (int i = first; i < first + count; i++) {
      before(changing[i]);
    }
  }

  /// A row is about to change or to go; -1 is none.
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

  /// A row was made, at a place where there may have been another one.
  void made(int row) {
    if (row < end) {
      pass(row);
    }
  }

  /// Whether the place was not passed before.
  private boolean pass(int row) {
    long bit = 1L << row;
    if ((passed[row >>> 6] & bit) != 0) {
      return false;
    }
    passed[row >>> 6] |= bit;
    return true;
  }

  /// Ends it; what was not taken out is not in it.
  @Override
  public void close() {
    if (stored != null) {
      stored.close();
    }
    onClose.accept(this);
  }
}
