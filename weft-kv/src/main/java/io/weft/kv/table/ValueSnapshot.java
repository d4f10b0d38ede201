// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// The values of a table as they were when it was begun, taken out in parts while the table
/// changes: a value that is about to change is taken out before it does. Takes one bit for each.
/// Owned; of the table's thread.
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

  /// Takes out what there is among the next places; whether all are out.
  ///
  /// @param places at most so many are looked at
  public boolean advance(int places) {
    int stop = (int) Math.min(end, (long) next + places);
    for (; next < stop; next++) {
      before(next);
    }
    return next == end;
  }

  /// A value is about to change.
  void before(int number) {
    if (number < end && pass(number)) {
      table.show(number, since, sink);
    }
  }

  /// A value was made, which was not there.
  void made(int number) {
    if (number < end) {
      boolean unused = pass(number);
    }
  }

  /// Whether it was not passed before.
  private boolean pass(int number) {
    long bit = 1L << number;
    if ((passed[number >>> 6] & bit) != 0) {
      return false;
    }
    passed[number >>> 6] |= bit;
    return true;
  }

  /// Ends it; what was not taken out is not in it.
  @Override
  public void close() {
    table.end(this);
  }
}
