// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.CommException;
import java.util.List;

/// Watches the collectives of one rank: a flight recorder, a timeline. Called on the progress
/// thread, `onSubmitted` on user threads; must neither block nor throw. Ranks are world ranks,
/// times are the progress thread's clock.
public interface CollectiveObserver {

  /// Sees nothing.
  CollectiveObserver NONE = new CollectiveObserver() {};

  /// The same, but once it has thrown, which it must not, it is told nothing any more.
  static CollectiveObserver guarded(CollectiveObserver observer) {
    return new GuardedObserver(observer);
  }

  /// One operation, as far as it concerns an onlooker, who must not keep it: it holds tensors.
  interface Subject {

    /// Key of its communicator, the same on all members.
    long communicator();

    /// Its tensor name.
    String name();

    /// Kind, type, shape, reduction, root, algorithm.
    String words();

    /// How often the name was used on the communicator before.
    int sequence();

    /// Length of this rank's tensor.
    long bytes();

    /// When the user submitted it.
    long submittedNanos();

    /// Ranks whose segments are missing. Allocates.
    List<Integer> awaited();

    /// Ranks that have answered a probe and had not submitted it then. Allocates.
    List<Integer> unsubmitted();
  }

  /// A communicator was opened.
  ///
  /// @param key the same on all members
  /// @param instance counts the communicators of these ranks, from 1
  default void onOpen(long key, long epoch, int instance, List<Integer> ranks) {}

  /// A user has queued an operation. Any thread.
  default void onSubmitted(Subject operation) {}

  /// The progress thread has taken an operation, in order of submission. Returns the number by
  /// which the observer wants to be told of it, until it is done or has failed.
  ///
  /// Hot path.
  default int onBegin(Subject operation, long nowNanos) {
    return 0;
  }

  /// One of its stages begins, 0 or 1.
  ///
  /// Hot path.
  default void onStage(int number, int phase, long nowNanos) {}

  /// It has completed.
  ///
  /// Hot path.
  default void onDone(int number, long nowNanos) {}

  /// It has failed; perhaps before its first stage, because its communicator had.
  default void onFailed(int number, Subject operation, CommException cause, long nowNanos) {}

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
