// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.sentinel.DivergencePolicy;
import java.util.Locale;

/// That ranks compare their weights while they train.
///
/// @param every how many steps, at least 1
/// @param policy what happens where they differ
public record WeightCheck(int every, DivergencePolicy policy) {
  @Override
  public String toString() {
    return every + "," + policy.toString().toLowerCase(Locale.ROOT);
  }
}
