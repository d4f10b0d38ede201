// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// The condition under which rows are evicted.
///
/// @param unusedSince rows are evicted that were neither updated nor pulled since this step; 0 = no
///   eviction by age
/// @param normBelow rows are evicted whose values have a smaller L2 norm; 0 = no eviction by norm
/// @param quietSince eviction by norm is limited to rows that were not updated since this step
public record Eviction(long unusedSince, double normBelow, long quietSince) {

  /// Creates a condition that evicts rows of a small norm regardless of their last update.
  public Eviction(long unusedSince, double normBelow) {
    this(unusedSince, normBelow, Long.MAX_VALUE);
  }

  /// Returns the condition by age.
  public static Eviction byAge(long unusedSince) {
    return new Eviction(unusedSince, 0);
  }

  /// Returns the condition by norm.
  public static Eviction byNorm(double normBelow) {
    return new Eviction(0, normBelow);
  }

  /// Returns whether a row is evicted by its age.
  ///
  /// @param step of its last update
  /// @param pulled step of its last pull
  boolean isOld(int step, int pulled) {
    return step < unusedSince && pulled < unusedSince;
  }

  /// Returns whether a row is evicted if its norm is small.
  boolean isQuiet(int step) {
    return normBelow > 0 && step < quietSince;
  }
}
