// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// Which rows go: those that either condition holds for.
///
/// @param unusedSince rows whose last use was in an earlier step
/// @param normBelow rows the L2 norm of whose values is less
public record Eviction(long unusedSince, double normBelow) {

  /// By age.
  public static Eviction byAge(long unusedSince) {
    return new Eviction(unusedSince, 0);
  }

  /// By norm.
  public static Eviction byNorm(double normBelow) {
    return new Eviction(0, normBelow);
  }
}
