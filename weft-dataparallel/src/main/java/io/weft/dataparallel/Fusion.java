// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import java.util.Locale;

/// The mode of tensor fusion.
public enum Fusion {
  /// Ranks negotiate the tensors that are ready on all ranks; the rule table decides which tensors
  /// are fused.
  AUTO,
  /// Ranks negotiate the tensors that are ready on all ranks, and all tensors are fused.
  ON,
  /// Each tensor is reduced by itself and matched by its name, without negotiation. Ranks cannot
  /// join, and a tensor that a rank never submits ends the reducer.
  OFF;

  /// Returns the value of the setting, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
