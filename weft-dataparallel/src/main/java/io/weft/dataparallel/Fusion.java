// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import java.util.Locale;

/// Whether tensors that are ready on all ranks travel together.
public enum Fusion {
  /// Ranks negotiate what is ready everywhere; the rule table says which tensors travel together.
  AUTO,
  /// Ranks negotiate what is ready everywhere, and all tensors travel together.
  ON,
  /// Each tensor by itself, matched by its name, without negotiation: nobody can join, and a tensor
  /// that a rank never submits ends the reducer.
  OFF;

  /// As the setting has it, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
