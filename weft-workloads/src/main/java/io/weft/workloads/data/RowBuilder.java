// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.util.Arrays;

/// Collects examples row by row where their number is not known before.
public final class RowBuilder {

  private static final long MAX_BYTES = 1L << 30;

  private final int classes;
  private final float scale;
  private final byte[] row;
  private byte label;
  private byte[] values;
  private byte[] labels;
  private int count;

  /// An empty collection; the parameters as in `Examples`.
  public RowBuilder(int features, int classes, float scale) {
    this.classes = classes;
    this.scale = scale;
    this.row = new byte[features];
    this.values = new byte[1024 * features];
    this.labels = new byte[1024];
  }

  /// The row to fill before `add`: all zero, the same array each time.
  public byte[] next(byte rowLabel) {
    Arrays.fill(row, (byte) 0);
    label = rowLabel;
    return row;
  }

  /// Whether it takes no more rows: they would have more than 1 GiB, far above every published set.
  public boolean isFull() {
    return (long) (count + 1) * row.length > MAX_BYTES;
  }

  /// Takes the row that `next` gave. Throws `IllegalStateException` if it is full.
  public void add() {
    if (isFull()) {
      throw new IllegalStateException(count + " rows of " + row.length + " bytes are the most");
    }
    if (count == labels.length) {
      labels = Arrays.copyOf(labels, Math.multiplyExact(2, count));
      values = Arrays.copyOf(values, Math.multiplyExact(labels.length, row.length));
    }
    System.arraycopy(row, 0, values, count * row.length, row.length);
    labels[count++] = label;
  }

  /// Rows so far.
  public int count() {
    return count;
  }

  /// All rows.
  public Examples build() {
    return new Examples(
        row.length,
        classes,
        scale,
        Arrays.copyOf(values, count * row.length),
        Arrays.copyOf(labels, count));
  }
}
