// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

/// Factors around a reduction, of floating types: Horovod's prescale and postscale factors.
///
/// @param before each rank's input is multiplied by it
/// @param after the result is multiplied by it
public record Scale(double before, double after) {

  /// Nothing changes.
  public static final Scale NONE = new Scale(1, 1);

  /// Throws `IllegalArgumentException` for a factor that is 0, infinite or not a number. One that
  /// the type of a tensor does not hold is refused where the tensor is known.
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
