// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import java.util.Locale;

/// The ranks that read the data.
public enum ReadMode {
  /// Rank 0 reads and sends each rank its examples [VIS16 §3.3.1].
  ROOT,
  /// Every rank reads: a part of the files that it exchanges with the others, or, if a part costs
  /// as much as the whole, all data, of which it keeps its examples.
  SHARDED;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
