// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

/// The options of a step, which must be equal on all ranks.
///
/// @param passes the backward passes, at least 1, whose mean gradient one step averages over the
///   ranks and applies
/// @param largestNorm the norm, above 0, to which a longer averaged gradient of all trained
///   parameters together is scaled; infinite: none is scaled
public record StepOptions(int passes, double largestNorm) {

  /// The options of a step of one pass without clipping.
  public static final StepOptions DEFAULT = new StepOptions(1, Double.POSITIVE_INFINITY);

  /// Throws `IllegalArgumentException` for less than one pass and for a norm that is not positive.
  public StepOptions {
    if (passes < 1) {
      throw new IllegalArgumentException(
          "gradients are accumulated over at least 1 pass, got " + passes);
    }
    if (!(largestNorm > 0)) {
      throw new IllegalArgumentException(
          "gradients are clipped to a norm above 0, got " + largestNorm);
    }
  }

  /// Returns these options with another number of passes.
  public StepOptions accumulated(int number) {
    return new StepOptions(number, largestNorm);
  }

  /// Returns these options with another largest norm.
  public StepOptions clipped(double norm) {
    return new StepOptions(passes, norm);
  }
}
