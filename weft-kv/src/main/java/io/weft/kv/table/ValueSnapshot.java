// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// The values of a table as of one moment. They are emitted in parts while the table changes: a
/// value that is about to change is emitted first. Takes one bit per value. Owned; confined to the
/// table's thread.
public final class ValueSnapshot implements AutoCloseable {

  private final ValueTable table;
  private final int end;
  private final long since;
  private final RowSink sink;
  private final long[] passed;
  private int next;

  ValueSnapshot(ValueTable table, int end, long since, RowSink sink) {
    this.table = table;
    this.end = end;
    this.since = since;
    this.sink = sink;
    this.passed = new long[(end >>> 6) + 1];
  }

  /// Emits the values at the next places. Returns whether all values have been emitted.
  ///
  /// @param places the maximum number of places to visit
  public boolean advance(int places) {
    int stop = (int) Math.min(end, (long) next + places);
    for (; next < stop; next++) {
      before(next);
    }
    return next == end;
  }

  /// Emits a value that is about to change.
  void before(int number) {
    if (number < end && pass(number)) {
      table.show(number, since, sink);
    }
  }

  /// Records a new value, which is not part of the snapshot.
  void made(int number) {
    if (number < end) {
      boolean unused = pass(number);
    }
  }

  /// Marks a value as visited and returns whether it was not marked before.
  private boolean pass(int number) {
    long bit = 1L << number;
    if ((passed[number >>> 6] & bit) != 0) {
      return false;
    }
    passed[number >>> 6] |= bit;
    return true;
  }

  /// Ends the snapshot. Values that have not been emitted are not part of it.
  @Override
  public void close() {
    table.end(this);
  }
}
