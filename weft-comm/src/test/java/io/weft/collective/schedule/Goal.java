// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

/// The result that an algorithm must achieve, chunk by chunk.
public enum Goal {
  /// Every rank ends with every rank's contribution to every chunk, once.
  ALLREDUCE,
  /// Rank r ends with every rank's contribution to chunk r, once.
  REDUCE_SCATTER,
  /// Every rank ends with chunk c of rank c, for every c.
  ALLGATHER,
  /// Every rank ends with rank 0's chunks.
  BROADCAST,
  /// Rank d ends with chunk `s * n + d` of rank s, for every s.
  ALLTOALL
}
