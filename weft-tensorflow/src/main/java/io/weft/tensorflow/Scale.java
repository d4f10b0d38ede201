// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

/// Factors around a reduction, of floating types: Horovod's prescale and postscale factors.
///
/// @param before each rank's input is multiplied by it
/// @param after the result is multiplied by it
public record Scale(double before, double after) {

  /// Nothing changes.
  public static final Scale NONE = new Scale(1, 1);

  /// Throws `IllegalArgumentException` for a factor that is infinite or not a number.
  public Scale {
    if (!Double.isFinite(before) || !Double.isFinite(after)) {
      throw new IllegalArgumentException(
          "factors before and after a reduction are finite numbers, got " + before + ", " + after);
    }
  }
}
