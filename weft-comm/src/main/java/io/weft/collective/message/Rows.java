// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.message;

import io.weft.tensor.TensorView;
import java.util.Arrays;

/// How the rows of tensors are shared out among ranks, in rows and in bytes.
public final class Rows {

  private Rows() {}

  /// Rows of each rank: N/n, and one more for the first N mod n ranks.
  public static long[] even(long rows, int size) {
    long[] each = new long[size];
    Arrays.setAll(each, r -> rows / size + (r < rows % size ? 1 : 0));
    return each;
  }

  /// Bytes of one row.
  public static long rowBytes(TensorView tensor) {
    return tensor.shape().elementsPerRow() * tensor.dtype().bytes();
  }

  /// Lengths of so many rows. Throws `ArithmeticException` where one is none.
  public static long[] inBytes(long[] rows, long rowBytes) {
    return Arrays.stream(rows).map(r -> Math.multiplyExact(r, rowBytes)).toArray();
  }

  /// What the members told, whose sum must be a length too. Throws `BadCount`, naming who told a
  /// negative number or the largest.
  public static long[] inBytesChecked(long[] rows, long rowBytes) {
    long left = Long.MAX_VALUE / Math.max(1, rowBytes);
    int largest = 0;
    for (int member = 0; member < rows.length; member++) {
      if (rows[member] < 0) {
        throw new BadCount(member, rows[member], rowBytes);
      }
      largest = rows[member] > rows[largest] ? member : largest;
    }
    for (long told : rows) {
      if (told > left) {
        throw new BadCount(largest, rows[largest], rowBytes);
      }
      left -= told;
    }
    return inBytes(rows, rowBytes);
  }

  /// Where parts of these lengths begin that lie one behind the other.
  public static long[] starts(long[] bytes) {
    long[] starts = new long[bytes.length];
    long at = 0;
    for (int i = 0; i < bytes.length; i++) {
      starts[i] = at;
      at += bytes[i];
    }
    return starts;
  }
}
