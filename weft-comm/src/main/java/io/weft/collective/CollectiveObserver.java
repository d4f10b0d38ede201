// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.comm.CommException;
import io.weft.observer.OperationObserver;
import java.util.List;
import java.util.Objects;

/// Watches the collectives of one rank, and what befalls its communicators and peers: a flight
/// recorder. Called where the progress thread runs, but for what `OperationObserver` says of the
/// user's thread; must neither block nor throw. Ranks are world ranks, times are the progress
/// thread's clock.
public interface CollectiveObserver extends OperationObserver {

  /// Sees nothing.
  CollectiveObserver NONE =
      new CollectiveObserver() {
        @Override
        public boolean hearsStages() {
          return false;
        }
      };

  /// The same, but once it has thrown, which it must not, it is told nothing any more.
  ///
  /// @param others told of operations too; they guard themselves
  static CollectiveObserver guarded(CollectiveObserver observer, OperationObserver others) {
    Objects.requireNonNull(observer, "observer");
    Objects.requireNonNull(others, "others");
    return new GuardedObserver(observer, others);
  }

  /// A communicator was opened.
  ///
  /// @param key the same on all members
  /// @param instance counts the communicators of these ranks, from 1
  default void onOpen(long key, long epoch, int instance, List<Integer> ranks) {}

  /// A communicator has failed, which its operations do next.
  default void onAborted(long key, CommException cause, long nowNanos) {}

  /// A member has told why it aborted a communicator, which fails next.
  default void onTold(int fromRank, CommException cause, long nowNanos) {}

  /// A communicator is closed in order, and what is pending fails next.
  default void onClosed(long key, long nowNanos) {}

  /// A rank is lost, and communicators with it fail next.
  ///
  /// @param witness the rank that noticed it, perhaps this one
  default void onPeerLost(int rank, int witness, String why, long nowNanos) {}

  /// A rank has left in order.
  default void onPeerLeft(int rank, long nowNanos) {}

  /// The progress thread turns; told every few milliseconds.
  default void onTurn(long nowNanos) {}
}
