// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.spec.Replicas;
import org.jspecify.annotations.Nullable;

/// The change of a shard's replica set by which another process takes the place of a lost server.
/// If the new replica set assigns the shard to that process, the shard's primary copies the shard
/// to it while pushes continue. The primary then stops serving, waits until all forwarded requests
/// are answered, and announces the new replica set first to its mirror and then to all other
/// processes. Confined to the shard's thread.
final class Reconfiguration {

  private final int rank;
  private final Replicas ring;
  private final @Nullable Mirror copy;
  private Stage stage = Stage.COPYING;

  /// The progress of the change.
  enum Stage {
    /// The shard is being copied and continues to serve.
    COPYING,
    /// The shard's requests wait until the forwarded requests are answered.
    STOPPING,
    /// The mirror is being notified.
    TELLING
  }

  /// @param rank of the process
  /// @param ring the new replica set, which contains the process
  /// @param copy to the process; null if the process gets nothing of the shard
  Reconfiguration(int rank, Replicas ring, @Nullable Mirror copy) {
    this.rank = rank;
    this.ring = ring;
    this.copy = copy;
  }

  int rank() {
    return rank;
  }

  Replicas ring() {
    return ring;
  }

  @Nullable Mirror copy() {
    return copy;
  }

  Stage stage() {
    return stage;
  }

  void stage(Stage next) {
    stage = next;
  }

  /// Returns whether the process has the whole shard, or needs nothing of it.
  boolean isWhole() {
    return copy == null || copy.isWhole();
  }

  /// Returns whether the change has failed, because the copy cannot be completed.
  boolean hasFailed() {
    return copy != null && !copy.isLive();
  }
}
