// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

/// The type of one tensor element. All types are little-endian, the native order of every supported
/// machine.
public enum DType {
  /// IEEE 754 binary16.
  FLOAT16(2, true),
  /// The upper half of a binary32.
  BFLOAT16(2, true),
  /// IEEE 754 binary32.
  FLOAT32(4, true),
  /// IEEE 754 binary64.
  FLOAT64(8, true),
  /// Unsigned, 0 to 255; sums wrap.
  UINT8(1, false),
  /// Signed, two's complement; sums wrap, as for all integers.
  INT8(1, false),
  /// Signed, 32 bits.
  INT32(4, false),
  /// Signed, 64 bits.
  INT64(8, false);

  private final int bytes;
  private final boolean floating;

  DType(int bytes, boolean floating) {
    this.bytes = bytes;
    this.floating = floating;
  }

  /// Returns the width of one element in bytes.
  public int bytes() {
    return bytes;
  }

  /// Returns whether sums of this type round and therefore depend on their order.
  public boolean floating() {
    return floating;
  }
}
