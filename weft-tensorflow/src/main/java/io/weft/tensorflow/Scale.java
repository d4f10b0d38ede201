// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

/// The factors around a reduction of floating types: Horovod's prescale and postscale factors.
///
/// @param before the factor of each rank's input
/// @param after the factor of the result
public record Scale(double before, double after) {

  /// Factors of 1, which change nothing.
  public static final Scale NONE = new Scale(1, 1);

  /// Throws `IllegalArgumentException` for a factor that is 0, infinite or NaN. A factor outside
  /// the range of a tensor's type is refused when the tensor is known.
  public Scale {
    if (!isFactor(before) || !isFactor(after)) {
      throw new IllegalArgumentException(
          "factors before and after a reduction are finite numbers other than 0, got "
              + before
              + ", "
              + after);
    }
  }

  private static boolean isFactor(double value) {
    return Double.isFinite(value) && value != 0;
  }
}
