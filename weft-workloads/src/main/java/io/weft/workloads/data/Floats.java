// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Objects;

/// The encoding of real numbers in `Examples`: four bytes a number, in the byte order of this
/// machine, so that a graph takes them as floats without a conversion.
public final class Floats {

  /// The bytes of a number.
  public static final int BYTES = Float.BYTES;

  private static final VarHandle FLOAT =
      MethodHandles.byteArrayViewVarHandle(float[].class, ByteOrder.nativeOrder());

  private Floats() {}

  /// Puts a column's number into a row.
  public static void put(byte[] row, int column, float value) {
    Objects.requireNonNull(row, "row");
    FLOAT.set(row, BYTES * column, value);
  }

  /// Returns a column's number in the row that begins at `first`.
  public static float get(byte[] values, int first, int column) {
    Objects.requireNonNull(values, "values");
    return (float) FLOAT.get(values, first + BYTES * column);
  }
}
