// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import java.nio.file.Path;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// What the shards of a server write checkpoints with. Any thread.
public final class SavedFiles {

  private final Executor executor;
  private volatile @Nullable Path latest;

  /// @param executor runs what writes files, one after the other
  public SavedFiles(Executor executor) {
    this.executor = executor;
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
