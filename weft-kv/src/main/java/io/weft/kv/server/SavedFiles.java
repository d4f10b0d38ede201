// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.table.MemoryBudget;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// The shared resources with which a server's shards write checkpoints. Any thread.
public final class SavedFiles {

  private static final long LEAST_OWN_BYTES = 4 << 20;
  private static final long MOST_OWN_BYTES = 64 << 20;

  private final Executor executor;
  private final MemoryBudget budget;
  private final long most;
  private volatile @Nullable Path latest;

  /// The bytes of waiting blocks, and the part of them that is reserved from the budget of tables.
  private long waiting;

  private long borrowed;

  /// Creates the resources. Waiting blocks have separate memory, so that tables that use their
  /// whole budget can be saved. Further blocks use the tables' budget.
  ///
  /// @param executor writes the files sequentially
  /// @param budget of the tables
  public SavedFiles(Executor executor, MemoryBudget budget) {
    this.executor = executor;
    this.budget = budget;
    this.most = Math.clamp(budget.bytes() / 8, LEAST_OWN_BYTES, MOST_OWN_BYTES);
  }

  /// Reserves memory for a waiting block. Throws `MemoryBudgetException`.
  synchronized void reserve(long bytes) {
    if (waiting - borrowed + bytes > most) {
      budget.reserve("rows of a checkpoint that are not written yet", bytes);
      borrowed += bytes;
    }
    waiting += bytes;
  }

  /// Releases memory, first that of the tables' budget.
  synchronized void release(long bytes) {
    long theirs = Math.min(borrowed, bytes);
    budget.release(theirs);
    borrowed -= theirs;
    waiting -= bytes;
  }

  /// Returns whether a block needs nothing of the tables' budget, or fits into it.
  synchronized boolean hasRoom(long bytes) {
    return waiting - borrowed + bytes <= most || budget.usedBytes() + bytes <= budget.bytes();
  }

  Executor executor() {
    return executor;
  }

  /// Records that a file of a shard is on disk.
  void written(Path file) {
    latest = file.getParent();
  }

  /// Returns the directory of the latest checkpoint for which this server has written a file, for
  /// messages; null if there was none.
  @Nullable Path latest() {
    return latest;
  }
}
