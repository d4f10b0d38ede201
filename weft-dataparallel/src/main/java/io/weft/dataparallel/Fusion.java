// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import java.util.Locale;

/// Whether tensors that are ready on all ranks travel together.
public enum Fusion {
  /// On, but where all ranks share memory: there single tensors are faster.
  AUTO,
  /// Ranks negotiate what is ready everywhere, and tensors travel together.
  ON,
  /// Each tensor by itself, matched by its name, without negotiation.
  OFF;

  /// As the setting has it, in lower case.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
