// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.util.function.DoubleSupplier;

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

  /// Returns whether a row is evicted, by its age or by its norm.
  ///
  /// @param step of its last update
  /// @param pulled step of its last pull
  /// @param norm of its values, called only if the norm decides
  boolean evicts(int step, int pulled, DoubleSupplier norm) {
    boolean isOld = step < unusedSince && pulled < unusedSince;
    return isOld || (normBelow > 0 && step < quietSince && norm.getAsDouble() < normBelow);
  }
}
