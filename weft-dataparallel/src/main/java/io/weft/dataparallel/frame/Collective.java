// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

/// What is done with a tensor when it is ready on all ranks.
public enum Collective {
  /// Combined on all ranks; the only one that is fused.
  ALLREDUCE("allreduce"),
  /// The rows of all ranks go to all.
  ALLGATHER("allgather"),
  /// Combined; each rank gets its rows.
  REDUCE_SCATTER("reduceScatter"),
  /// The root's goes to all.
  BROADCAST("broadcast"),
  /// Each rank sends every rank rows.
  ALLTOALL("alltoall"),
  /// Other sizes for the communicator, which are its shape: eager bytes, segment, window.
  TUNE("tune");

  private final String words;

  Collective(String words) {
    this.words = words;
  }

  /// As the API calls it.
  @Override
  public String toString() {
    return words;
  }
}
