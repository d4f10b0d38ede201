// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

/// The two 16-bit floating types, one value at a time. Both widen to binary32 without loss; a
/// binary32 narrows to the nearest value, ties to even, and every NaN to the one canonical NaN.
final class HalfPrecision {

  /// The canonical NaN of binary16.
  static final int NAN_16 = 0x7e00;

  /// The canonical NaN of binary32; its upper half is the canonical NaN of bfloat16.
  static final int NAN_32 = 0x7fc00000;

  private HalfPrecision() {}

  /// The value of these binary16 bits.
  static float fromBinary16(short bits) {
    return Float.float16ToFloat(bits);
  }

  /// The binary16 nearest to `value`, as bits.
  static short toBinary16(float value) {
    return Float.isNaN(value) ? (short) NAN_16 : Float.floatToFloat16(value);
  }

  /// The value of these bfloat16 bits.
  static float fromBfloat16(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  /// The bfloat16 nearest to `value`, as bits. Half of the weight of the last kept bit, less one if
  /// that bit is even, is added; a carry out of the fraction enters the exponent, as it should, up
  /// to infinity.
  static short toBfloat16(float value) {
    int bits = Float.floatToIntBits(value);
    return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
  }
}
