// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.table.MemoryBudget;
import java.util.List;

/// What the shards of a server share.
///
/// @param rank of the server
/// @param workers their ranks, ascending: the order in which pushes of a clock are added
/// @param budget of all tables
/// @param replies memory of answers
/// @param listBytes of the lists of keys that a shard keeps for a table
/// @param files writes checkpoints
/// @param mirroring how shards reach their mirrors
/// @param spills stores of tables that may be larger than memory
/// @param functions that run here
/// @param shards how many there are, on all servers
/// @param states of those of this server, for others to see
public record ShardContext(
    int rank,
    List<Integer> workers,
    MemoryBudget budget,
    ReplyMemory replies,
    long listBytes,
    SavedFiles files,
    Mirroring mirroring,
    Spills spills,
    ShardFunctions functions,
    int shards,
    ShardStates states) {

  /// Copies what could change.
  public ShardContext {
    workers = List.copyOf(workers);
  }

  /// Position of a rank among the workers; -1 = it is none.
  ///
  /// Hot path.
  int worker(int ofRank) {
    int low = 0;
    int high = workers.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (workers.get(middle) < ofRank) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < workers.size() && workers.get(low) == ofRank ? low : -1;
  }
}
