// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import java.util.Locale;

/// The collectives.
enum Kind {
  ALLREDUCE,
  REDUCE_SCATTER,
  ALLGATHER,
  BROADCAST,
  ALLTOALL,
  BARRIER;

  String words() {
    return name().toLowerCase(Locale.ROOT).replace("_", "");
  }
}
