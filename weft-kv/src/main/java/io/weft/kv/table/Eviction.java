// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// Which rows go.
///
/// @param unusedSince those that were neither updated nor pulled since this step; 0 = none goes by
///   age
/// @param normBelow those the L2 norm of whose values is less; 0 = none goes by norm
/// @param quietSince of them those that were not updated since this step
public record Eviction(long unusedSince, double normBelow, long quietSince) {

  /// Rows of a small norm go whenever they were updated.
  public Eviction(long unusedSince, double normBelow) {
    this(unusedSince, normBelow, Long.MAX_VALUE);
  }

  /// By age.
  public static Eviction byAge(long unusedSince) {
    return new Eviction(unusedSince, 0);
  }

  /// By norm.
  public static Eviction byNorm(double normBelow) {
    return new Eviction(0, normBelow);
  }

  /// Whether a row goes by its age.
  ///
  /// @param step of its last update
  /// @param pulled step of its last pull
  boolean isOld(int step, int pulled) {
    return step < unusedSince && pulled < unusedSince;
  }

  /// Whether a row goes if its norm is small.
  boolean isQuiet(int step) {
    return normBelow > 0 && step < quietSince;
  }
}
