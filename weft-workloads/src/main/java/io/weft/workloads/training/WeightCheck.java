// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.sentinel.DivergencePolicy;
import java.util.Locale;

/// A comparison of the ranks' weights during training.
///
/// @param every the number of steps between comparisons, at least 1
/// @param policy the reaction to a difference
public record WeightCheck(int every, DivergencePolicy policy) {
  @Override
  public String toString() {
    return every + "," + policy.toString().toLowerCase(Locale.ROOT);
  }
}
