// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;

/// Checks the numbers that `Kernels.scale` multiplies by, when a caller gives them: a factor that
/// the multiplication rounds to zero or to infinity, or that loses digits, would change a result
/// without a word. Pure.
public final class ScaleFactor {

  private ScaleFactor() {}

  /// Throws `IllegalArgumentException`, which begins with `what`, unless the factor is finite, not
  /// zero and a normal number of the type in which elements of `dtype` are multiplied: FLOAT64 by
  /// itself, FLOAT32 and the 16-bit types in FLOAT32.
  public static void require(String what, DType dtype, double factor) {
    if (dtype == DType.FLOAT64) {
      requireInRange(what, factor, Double.MIN_NORMAL, Double.MAX_VALUE, dtype);
      return;
    }
    requireInRange(what, factor, Float.MIN_NORMAL, Float.MAX_VALUE, DType.FLOAT32);
  }

  /// The same where the type of the elements is not known yet: of FLOAT32.
  public static void require(String what, double factor) {
    require(what, DType.FLOAT32, factor);
  }

  private static void requireInRange(
      String what, double factor, double least, double most, DType as) {
    double magnitude = Math.abs(factor);
    if (!(magnitude >= least && magnitude <= most)) {
      throw new IllegalArgumentException(
          "%s: a factor of %s is not possible; as %s its magnitude is a number from %s to %s"
              .formatted(what, factor, as, least, most));
    }
  }
}
