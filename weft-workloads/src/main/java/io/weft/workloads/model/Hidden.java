// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.Locale;

/// The sizes of the hidden dense layers of the networks for digits and pictures.
public enum Hidden {
  /// The sizes that the workload defines.
  STANDARD,
  /// Two layers of 2048 and 1024 units, so that ranks exchange large gradients [PSLITE §4.2].
  ENLARGED;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
