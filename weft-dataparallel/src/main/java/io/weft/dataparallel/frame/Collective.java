// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

/// The collective that is executed when a tensor is ready on all ranks.
public enum Collective {
  /// Combines the tensors on all ranks; the only collective that is fused.
  ALLREDUCE("allreduce"),
  /// Gathers the rows of all ranks on all ranks.
  ALLGATHER("allgather"),
  /// Combines the tensors; each rank receives its rows.
  REDUCE_SCATTER("reduceScatter"),
  /// Copies the root's tensor to all ranks.
  BROADCAST("broadcast"),
  /// Sends rows from each rank to each rank.
  ALLTOALL("alltoall"),
  /// Changes the communicator's sizes, which are the shape: eager bytes, segment, window.
  TUNE("tune");

  private final String words;

  Collective(String words) {
    this.words = words;
  }

  /// Returns the name of the collective in the API.
  @Override
  public String toString() {
    return words;
  }
}
