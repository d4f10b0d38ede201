// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.Locale;

/// The function of the neurons in hidden dense layers. Convolutions always use ReLU.
public enum Activation {
  /// The positive part.
  RELU,
  /// The logistic function, as in [VIS16 §4.1].
  SIGMOID;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
