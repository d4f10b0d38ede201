// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.ReduceOp;

/// What each operation does to two values: the definition that every kernel obeys. Symmetric bit
/// for bit: `combine(op, a, b)` has the bits of `combine(op, b, a)`, because a NaN result is always
/// the canonical one.
final class Scalars {

  private Scalars() {}

  /// Two binary32 values as one, rounded to nearest even.
  static float combine(ReduceOp op, float a, float b) {
    return canonical(
        switch (op) {
          case SUM, AVERAGE -> a + b;
          case MIN -> Math.min(a, b);
          case MAX -> Math.max(a, b);
          case PRODUCT -> a * b;
        });
  }

  /// Two binary64 values as one, rounded to nearest even.
  static double combine(ReduceOp op, double a, double b) {
    return canonical(
        switch (op) {
          case SUM, AVERAGE -> a + b;
          case MIN -> Math.min(a, b);
          case MAX -> Math.max(a, b);
          case PRODUCT -> a * b;
        });
  }

  /// Two integers of any width as one; the caller keeps as many low bits as its type has, which are
  /// right because sums and products wrap. The operands come sign- or zero-extended.
  static long combine(ReduceOp op, long a, long b) {
    return switch (op) {
      case SUM, AVERAGE -> a + b;
      case MIN -> Math.min(a, b);
      case MAX -> Math.max(a, b);
      case PRODUCT -> a * b;
    };
  }

  /// The value itself, or the canonical NaN.
  static float canonical(float value) {
    return Float.isNaN(value) ? Float.NaN : value;
  }

  /// The value itself, or the canonical NaN.
  static double canonical(double value) {
    return Double.isNaN(value) ? Double.NaN : value;
  }
}
