// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.util.Arrays;

/// A builder of examples, row by row, for data whose number of rows is not known in advance.
public final class RowBuilder {

  private static final long MAX_BYTES = 1L << 30;

  private final int classes;
  private final float scale;
  private final byte[] row;
  private byte label;
  private byte[] values;
  private byte[] labels;
  private int count;

  /// Creates an empty builder; the parameters are those of `Examples`.
  public RowBuilder(int features, int classes, float scale) {
    this.classes = classes;
    this.scale = scale;
    this.row = new byte[features];
    this.values = new byte[1024 * features];
    this.labels = new byte[1024];
  }

  /// Returns the row to fill before `add`: all zeros, the same array in each call.
  public byte[] next(byte rowLabel) {
    Arrays.fill(row, (byte) 0);
    label = rowLabel;
    return row;
  }

  /// Returns whether another row would exceed 1 GiB, far above every published data set.
  public boolean isFull() {
    return (long) (count + 1) * row.length > MAX_BYTES;
  }

  /// Adds the row that `next` returned. Throws `IllegalStateException` if the builder is full.
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

  /// Returns the number of added rows.
  public int count() {
    return count;
  }

  /// Returns all rows.
  public Examples build() {
    return new Examples(
        row.length,
        classes,
        scale,
        Arrays.copyOf(values, count * row.length),
        Arrays.copyOf(labels, count));
  }
}
