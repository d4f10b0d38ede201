// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.plan;

import java.util.Locale;

/// The collectives.
public enum CollectiveKind {
  ALLREDUCE,
  REDUCE_SCATTER,
  ALLGATHER,
  BROADCAST,
  ALLTOALL,
  BARRIER;

  /// Returns whether all ranks have tensors of one length.
  public boolean sameBytes() {
    return this != ALLGATHER && this != ALLTOALL;
  }

  public String words() {
    return name().toLowerCase(Locale.ROOT).replace("_", "");
  }
}
