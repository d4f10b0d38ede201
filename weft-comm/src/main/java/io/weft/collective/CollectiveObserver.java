// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.comm.CommException;
import io.weft.observer.OperationObserver;
import java.util.List;
import java.util.Objects;

/// An observer of the collectives of one rank, and of its communicators and peers, such as a flight
/// recorder. Called on the thread that runs the progress engine, except where `OperationObserver`
/// names the user's thread. Must neither block nor throw. Ranks are world ranks; times are by the
/// progress thread's clock.
public interface CollectiveObserver extends OperationObserver {

  /// The observer that ignores every event.
  CollectiveObserver NONE =
      new CollectiveObserver() {
        @Override
        public boolean hearsStages() {
          return false;
        }
      };

  /// Returns an observer that forwards to `others`, and to `observer` until it throws.
  ///
  /// @param others receives the events of operations too; must not throw
  static CollectiveObserver guarded(CollectiveObserver observer, OperationObserver others) {
    Objects.requireNonNull(observer, "observer");
    Objects.requireNonNull(others, "others");
    return new GuardedObserver(observer, others);
  }

  /// Reports that a communicator was opened.
  ///
  /// @param key equal on all members
  /// @param instance number among the communicators of these ranks, from 1
  default void onOpen(long key, long epoch, int instance, List<Integer> ranks) {}

  /// Reports that a communicator has failed. Its operations fail next.
  default void onAborted(long key, CommException cause, long nowNanos) {}

  /// Reports that a member has sent the cause of its abort. The communicator fails next.
  default void onTold(int fromRank, CommException cause, long nowNanos) {}

  /// Reports that a communicator was closed on this rank. Its pending operations fail next.
  default void onClosed(long key, long nowNanos) {}

  /// Reports that a rank is lost. Communicators with this rank fail next.
  ///
  /// @param witness the rank that detected the loss, possibly this one
  default void onPeerLost(int rank, int witness, String why, long nowNanos) {}

  /// Reports that a rank has left the job in order.
  default void onPeerLeft(int rank, long nowNanos) {}

  /// Reports that the progress thread is alive, every few milliseconds.
  default void onDutyCycle(long nowNanos) {}
}
