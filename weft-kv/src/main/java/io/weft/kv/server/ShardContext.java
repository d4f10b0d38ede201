// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.function.KvFunction;
import io.weft.kv.table.MemoryBudget;
import java.util.List;
import java.util.Map;

/// What the shards of a server share.
///
/// @param rank of the server
/// @param workers their ranks, ascending: the order in which pushes of a clock are added
/// @param budget of all tables
/// @param replies memory of answers
/// @param listBytes of the lists of keys that a shard keeps for a table
/// @param files writes checkpoints
/// @param mirroring how shards reach their mirrors
/// @param functions that run here, by name
public record ShardContext(
    int rank,
    List<Integer> workers,
    MemoryBudget budget,
    ReplyMemory replies,
    long listBytes,
    SavedFiles files,
    Mirroring mirroring,
    Map<String, KvFunction<?>> functions) {

  /// Copies what could change.
  public ShardContext {
    workers = List.copyOf(workers);
    functions = Map.copyOf(functions);
  }

  /// Position of a rank among the workers; -1 = it is none.
  int worker(int ofRank) {
    return workers.indexOf(ofRank);
  }
}
