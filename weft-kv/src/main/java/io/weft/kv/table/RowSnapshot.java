// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.util.function.Consumer;

/// The rows of a table as they were when it was begun, taken out in parts while the table changes:
/// a row that is about to change or to go is taken out before it does. Takes one bit for each row.
/// Owned; of the table's thread.
public final class RowSnapshot implements AutoCloseable {

  private final RowMemory memory;
  private final int since;
  private final RowSink sink;
  private final Consumer<RowSnapshot> onClose;
  private final int end;
  private final long[] passed;
  private int next;
  private long rows;

  RowSnapshot(RowMemory memory, int since, RowSink sink, Consumer<RowSnapshot> onClose) {
    this.memory = memory;
    this.since = since;
    this.sink = sink;
    this.onClose = onClose;
    this.end = memory.end();
    this.passed = new long[(end >>> 6) + 1];
  }

  /// Takes out what there is among the next places of rows; whether all are out.
  ///
  /// @param places at most so many are looked at
  public boolean advance(int places) {
    int stop = (int) Math.min(end, (long) next + places);
    for (; next < stop; next++) {
      if (memory.isUsed(next)) {
        before(next);
      }
    }
    return next == end;
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
    rows++;
    sink.row(memory.in(row), memory.at(row), memory.rowBytes());
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
    onClose.accept(this);
  }
}
