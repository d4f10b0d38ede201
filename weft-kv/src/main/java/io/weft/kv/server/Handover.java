// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.spec.Replicas;
import org.jspecify.annotations.Nullable;

/// The change of a shard's ring by which another process takes the place of a server that was lost.
/// The server of the shard copies to it what it shall have while pushes go on; then it stops, until
/// all that it has sent is answered; then it tells its mirror, and then all others. Confined to the
/// shard's thread.
final class Handover {

  private final int rank;
  private final Replicas ring;
  private final @Nullable Mirror copy;
  private Stage stage = Stage.COPYING;

  /// How far it has come.
  enum Stage {
    /// The shard goes on.
    COPYING,
    /// The shard's requests wait until what was sent is answered.
    STOPPING,
    /// The mirror is told.
    TELLING
  }

  /// @param rank of the process
  /// @param ring in which it has its place
  /// @param copy to it; null = it has nothing of the shard
  Handover(int rank, Replicas ring, @Nullable Mirror copy) {
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

  /// Whether it has all that it shall have.
  boolean isWhole() {
    return copy == null || copy.isWhole();
  }

  /// Whether it cannot come about: what is copied there does not arrive.
  boolean hasFailed() {
    return copy != null && !copy.isLive();
  }
}
