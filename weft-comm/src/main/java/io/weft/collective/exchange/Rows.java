// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import io.weft.tensor.TensorView;
import java.util.Arrays;
import java.util.List;

/// How the rows of tensors are shared out among ranks, in rows and in bytes.
public final class Rows {

  private Rows() {}

  /// Rows of each rank: N/n, and one more for the first N mod n ranks.
  public static long[] even(long rows, int size) {
    long[] each = new long[size];
    Arrays.setAll(each, r -> rows / size + (r < rows % size ? 1 : 0));
    return each;
  }

  /// Bytes of one row. Throws `IllegalArgumentException` where these are beyond 2^63-1, which only
  /// the rows of a tensor without rows can be.
  public static long rowBytes(TensorView tensor) {
    return TensorView.bytes(tensor.dtype(), tensor.shape().withFirst(1));
  }

  /// Whether these are counts, and sum to so many rows.
  public static boolean isDivision(List<Long> counts, long rows) {
    long left = rows;
    for (long count : counts) {
      if (count < 0 || count > left) {
        return false; // no sum, which could wrap
      }
      left -= count;
    }
    return left == 0;
  }

  /// Lengths of so many rows. Throws `ArithmeticException` where one is none.
  public static long[] inBytes(long[] rows, long rowBytes) {
    return Arrays.stream(rows).map(r -> Math.multiplyExact(r, rowBytes)).toArray();
  }

  /// What the members told, whose sum must be a length too. Throws `BadCount`, naming who told what
  /// no tensor has, or `OutOfMemoryError` where each could have its rows, but no tensor all.
  public static long[] inBytesChecked(long[] rows, long rowBytes) {
    long most = Long.MAX_VALUE / Math.max(1, rowBytes);
    for (int member = 0; member < rows.length; member++) {
      if (rows[member] < 0 || rows[member] > most) {
        throw new BadCount(member, rows[member], rowBytes);
      }
    }
    long left = most;
    for (long told : rows) {
      if (told > left) {
        throw new OutOfMemoryError(
            Arrays.toString(rows)
                + " rows by rank, of "
                + rowBytes
                + " bytes each, are more than any tensor has");
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
