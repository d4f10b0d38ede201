// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.comm.CommException;
import java.util.List;

/// An observer of the communicators and peers of one rank, such as a flight recorder. Called on the
/// thread that runs the progress engine. Must neither block nor throw. Ranks are world ranks; times
/// are by the progress thread's clock.
public interface CommunicatorObserver {

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
