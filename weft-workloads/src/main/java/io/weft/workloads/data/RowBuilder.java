// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.util.Arrays;

/// A builder of examples, row by row.
public final class RowBuilder {

  private static final long MAX_BYTES = 1L << 30;

  /// The limit for a known number of rows, which need no room to grow.
  private static final long MAX_KNOWN_BYTES = Integer.MAX_VALUE - 16L;

  private final int classes;
  private final float scale;
  private final byte[] row;
  private final long mostBytes;
  private byte label;
  private byte[] values;
  private byte[] labels;
  private int count;

  /// Creates an empty builder for an unknown number of rows; the parameters are those of
  /// `Examples`.
  public RowBuilder(int features, int classes, float scale) {
    this(features, classes, scale, 1024, MAX_BYTES);
  }

  private RowBuilder(int features, int classes, float scale, int capacity, long mostBytes) {
    this.classes = classes;
    this.scale = scale;
    this.row = new byte[features];
    this.mostBytes = mostBytes;
    this.values = new byte[capacity * features];
    this.labels = new byte[capacity];
  }

  /// Returns an empty builder for a known number of rows, whose memory `build` passes on. Throws
  /// `Malformed` if they have more than 2 GiB.
  public static RowBuilder of(DataFile file, int features, int classes, int rows) {
    if ((long) rows * features > MAX_KNOWN_BYTES) {
      throw file.malformed(
          "at most " + MAX_KNOWN_BYTES / features + " lines for one reader; give more ranks",
          rows + " lines");
    }
    return file.within(() -> new RowBuilder(features, classes, 1f, rows, MAX_KNOWN_BYTES));
  }

  /// Returns the row to fill before `add`: all zeros, the same array in each call.
  public byte[] next(byte rowLabel) {
    Arrays.fill(row, (byte) 0);
    label = rowLabel;
    return row;
  }

  /// Returns whether another row would exceed the limit: 1 GiB for an unknown number of rows.
  public boolean isFull() {
    return (long) (count + 1) * row.length > mostBytes;
  }

  /// Adds the row that `next` returned. Throws `IllegalStateException` if the builder is full.
  public void add() {
    if (isFull()) {
      throw new IllegalStateException(count + " rows of " + row.length + " bytes are the most");
    }
    if (count == labels.length) {
      labels = Arrays.copyOf(labels, Math.max(1, Math.multiplyExact(2, count)));
      values = Arrays.copyOf(values, Math.multiplyExact(labels.length, row.length));
    }
    System.arraycopy(row, 0, values, count * row.length, row.length);
    labels[count++] = label;
  }

  /// Returns the number of added rows.
  public int count() {
    return count;
  }

  /// Returns all rows; the builder must not be used afterwards.
  public Examples build() {
    return new Examples(
        row.length,
        classes,
        scale,
        values.length == count * row.length ? values : Arrays.copyOf(values, count * row.length),
        labels.length == count ? labels : Arrays.copyOf(labels, count));
  }
}
