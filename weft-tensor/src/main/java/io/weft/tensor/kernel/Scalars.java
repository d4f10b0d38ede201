// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.ReduceOp;

/// The result of each operation on two values, which defines the result of every kernel. The
/// operations are symmetric bit for bit: `combine(op, a, b)` has the bits of `combine(op, b, a)`,
/// because a NaN result is always the canonical one.
final class Scalars {

  private Scalars() {}

  /// Combines two binary32 values, rounded to nearest even.
  static float combine(ReduceOp op, float a, float b) {
    return canonical(
        switch (op) {
          case SUM, AVERAGE -> a + b;
          case MIN -> Math.min(a, b);
          case MAX -> Math.max(a, b);
          case PRODUCT -> a * b;
        });
  }

  /// Combines two binary64 values, rounded to nearest even.
  static double combine(ReduceOp op, double a, double b) {
    return canonical(
        switch (op) {
          case SUM, AVERAGE -> a + b;
          case MIN -> Math.min(a, b);
          case MAX -> Math.max(a, b);
          case PRODUCT -> a * b;
        });
  }

  /// Combines two sign- or zero-extended integers of any width. The caller keeps the low bits of
  /// its type, which are correct because sums and products wrap.
  static long combine(ReduceOp op, long a, long b) {
    return switch (op) {
      case SUM, AVERAGE -> a + b;
      case MIN -> Math.min(a, b);
      case MAX -> Math.max(a, b);
      case PRODUCT -> a * b;
    };
  }

  /// Returns the value, or the canonical NaN for any NaN.
  static float canonical(float value) {
    return Float.isNaN(value) ? Float.NaN : value;
  }

  /// Returns the value, or the canonical NaN for any NaN.
  static double canonical(double value) {
    return Double.isNaN(value) ? Double.NaN : value;
  }
}
