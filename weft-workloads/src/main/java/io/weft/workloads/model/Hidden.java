// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.Locale;

/// How many units the hidden dense layers of the networks for digits and pictures have.
public enum Hidden {
  /// As the workload says.
  STANDARD,
  /// Two layers of 2048 and 1024, so that much is to be communicated [PSLITE §4.2].
  ENLARGED;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
