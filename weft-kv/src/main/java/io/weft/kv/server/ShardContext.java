// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.table.MemoryBudget;
import java.util.List;

/// The shared state of a server's shards.
///
/// @param rank of the server
/// @param workers their ranks, ascending, which is the order in which pushes of a clock are added
/// @param memory the limits of memory
/// @param disk checkpoints and rows on disk
/// @param mirroring the connection of shards to their mirrors
/// @param functions the known functions and changes
/// @param shards the number of shards on all servers
/// @param states of this server's shards, for other threads
public record ShardContext(
    int rank,
    List<Integer> workers,
    Memory memory,
    Disk disk,
    Mirroring mirroring,
    ShardFunctions functions,
    int shards,
    ShardStates states) {

  /// The limits of a server's memory.
  ///
  /// @param budget of all tables
  /// @param replies memory of answers
  /// @param listBytes of the lists of keys that a shard keeps for a table
  public record Memory(MemoryBudget budget, ReplyMemory replies, long listBytes) {}

  /// The use of a server's disk.
  ///
  /// @param files writes checkpoints
  /// @param spills stores of tables that may be larger than memory
  public record Disk(SavedFiles files, Spills spills) {}

  /// Copies the mutable arguments.
  public ShardContext {
    workers = List.copyOf(workers);
  }

  /// Returns the position of a rank among the workers, or -1 if it is not a worker.
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
