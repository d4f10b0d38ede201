// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;

/// Checks of the factors that callers pass to `Kernels.scale`. A factor that the multiplication
/// rounds to zero or infinity, or that loses digits, would silently change a result. Pure.
public final class ScaleFactor {

  private ScaleFactor() {}

  /// Throws `IllegalArgumentException`, whose message begins with `what`, unless the factor is
  /// finite, nonzero and normal in the type in which elements of `dtype` are multiplied. FLOAT64 is
  /// multiplied in FLOAT64, FLOAT32 and the 16-bit types in FLOAT32.
  public static void require(String what, DType dtype, double factor) {
    if (dtype == DType.FLOAT64) {
      requireInRange(what, factor, Double.MIN_NORMAL, Double.MAX_VALUE, dtype);
      return;
    }
    requireInRange(what, factor, Float.MIN_NORMAL, Float.MAX_VALUE, DType.FLOAT32);
  }

  /// Checks a factor as for FLOAT32, for callers that do not know the element type yet.
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
