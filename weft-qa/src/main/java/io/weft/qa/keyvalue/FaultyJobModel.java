// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

/// The counts of a job's pushes by row. All workers of a simulated job share the model, because
/// only one of them runs at any time. A row that each push increments by one lies between the
/// pushes that were acknowledged before a pull began and the pushes that had begun before it ended.
final class FaultyJobModel {

  private final int[] begun;
  private final int[] acknowledged;

  FaultyJobModel(int rows) {
    begun = new int[rows];
    acknowledged = new int[rows];
  }

  /// Records that a push of these rows begins.
  void begin(long[] rows) {
    for (long row : rows) {
      begun[(int) row]++;
    }
  }

  /// Records that a push of these rows is acknowledged.
  void acknowledge(long[] rows) {
    for (long row : rows) {
      acknowledged[(int) row]++;
    }
  }

  /// Returns the acknowledged pushes of each of these rows.
  int[] acknowledged(long[] rows) {
    int[] counts = new int[rows.length];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = acknowledged[(int) rows[i]];
    }
    return counts;
  }

  /// Checks pulled rows. Throws `IllegalStateException` for a lost push, and for a push that counts
  /// twice.
  ///
  /// @param least the acknowledged pushes before the pull began
  /// @param pulled the values, `width` of each row
  void check(String where, long[] rows, int[] least, float[] pulled, int width) {
    for (int i = 0; i < pulled.length; i++) {
      int row = (int) rows[i / width];
      int low = least[i / width];
      if (pulled[i] < low || pulled[i] > begun[row] || pulled[i] != Math.rint(pulled[i])) {
        throw new IllegalStateException(
            "%s: row %d column %d has %s; %d pushes were acknowledged and %d have begun"
                .formatted(where, row, i % width, pulled[i], low, begun[row]));
      }
    }
  }
}
