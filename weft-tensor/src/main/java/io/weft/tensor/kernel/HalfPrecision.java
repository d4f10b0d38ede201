// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

/// Conversions of the two 16-bit floating types, one value at a time. Both widen to binary32
/// without loss. A binary32 narrows to the nearest value, ties to even, and every NaN to the
/// canonical NaN.
final class HalfPrecision {

  /// The canonical NaN of binary16.
  static final int NAN_16 = 0x7e00;

  /// The canonical NaN of binary32; its upper half is the canonical NaN of bfloat16.
  static final int NAN_32 = 0x7fc00000;

  private HalfPrecision() {}

  /// Returns the value of these binary16 bits.
  static float fromBinary16(short bits) {
    return Float.float16ToFloat(bits);
  }

  /// Returns the bits of the binary16 nearest to `value`.
  static short toBinary16(float value) {
    return Float.isNaN(value) ? (short) NAN_16 : Float.floatToFloat16(value);
  }

  /// Returns the value of these bfloat16 bits.
  static float fromBfloat16(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  /// Returns the bits of the bfloat16 nearest to `value`. Adds half the weight of the last kept
  /// bit, minus one if that bit is even. A carry out of the fraction correctly enters the exponent,
  /// up to infinity.
  static short toBfloat16(float value) {
    int bits = Float.floatToIntBits(value);
    return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
  }
}
