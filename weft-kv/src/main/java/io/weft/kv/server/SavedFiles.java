// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.table.MemoryBudget;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// What the shards of a server write checkpoints with. Any thread.
public final class SavedFiles {

  private static final long LEAST_OWN_BYTES = 4 << 20;
  private static final long MOST_OWN_BYTES = 64 << 20;

  private final Executor executor;
  private final MemoryBudget budget;
  private final long most;
  private volatile @Nullable Path latest;

  /// Bytes of blocks that wait, and those of them that count in the budget of tables.
  private long waiting;

  private long borrowed;

  /// Blocks that wait have memory of their own, so that tables that have taken all of theirs can be
  /// saved; beyond that they take from the tables' budget.
  ///
  /// @param executor runs what writes files, one after the other
  /// @param budget of the tables
  public SavedFiles(Executor executor, MemoryBudget budget) {
    this.executor = executor;
    this.budget = budget;
    this.most = Math.clamp(budget.bytes() / 8, LEAST_OWN_BYTES, MOST_OWN_BYTES);
  }

  /// Takes memory for a block that waits. Throws `MemoryBudgetException`.
  synchronized void reserve(long bytes) {
    if (waiting - borrowed + bytes > most) {
      budget.reserve("rows of a checkpoint that are not written yet", bytes);
      borrowed += bytes;
    }
    waiting += bytes;
  }

  /// Gives it back; what the tables lack first.
  synchronized void release(long bytes) {
    long theirs = Math.min(borrowed, bytes);
    budget.release(theirs);
    borrowed -= theirs;
    waiting -= bytes;
  }

  /// Whether a block would take nothing of the tables' budget, or there is room in that.
  synchronized boolean hasRoom(long bytes) {
    return waiting - borrowed + bytes <= most || budget.usedBytes() + bytes <= budget.bytes();
  }

  Executor executor() {
    return executor;
  }

  /// A file of a shard is on the disk.
  void written(Path file) {
    latest = file.getParent();
  }

  /// Directory of the latest checkpoint of which this server has written a file, for messages; null
  /// = there was none.
  @Nullable Path latest() {
    return latest;
  }
}
