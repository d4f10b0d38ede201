// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import io.weft.tensor.TensorView;
import java.util.Arrays;
import java.util.List;

/// The division of tensors among ranks, in rows and in bytes.
public final class RowPartition {

  private RowPartition() {}

  /// Returns the number of rows of each rank: N/n, and one more for the first N mod n ranks.
  public static long[] even(long rows, int size) {
    long[] each = new long[size];
    Arrays.setAll(each, r -> rows / size + (r < rows % size ? 1 : 0));
    return each;
  }

  /// Returns the length of one row in bytes. Throws `IllegalArgumentException` if it exceeds
  /// 2^63-1, which is possible only in a tensor without rows.
  public static long rowBytes(TensorView tensor) {
    return TensorView.bytes(tensor.dtype(), tensor.shape().withFirst(1));
  }

  /// Returns whether all counts are valid and sum to `rows`.
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

  /// Returns the lengths of these rows in bytes. Throws `ArithmeticException` on overflow.
  public static long[] inBytes(long[] rows, long rowBytes) {
    return Arrays.stream(rows).map(r -> Math.multiplyExact(r, rowBytes)).toArray();
  }

  /// Returns the lengths of the rows that members have sent. Throws `BadCount` that names a member
  /// whose count a tensor cannot have, or `OutOfMemoryError` if each member's rows fit a tensor but
  /// their sum does not.
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

  /// Returns the offsets of adjacent parts of these lengths.
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
