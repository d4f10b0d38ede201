// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.cluster.ProcessSet;
import io.weft.comm.CommException;

/// A component that lives from epoch to epoch, such as the collectives. All methods run on the
/// progress thread and must not block.
public interface EpochFollower {

  /// Called, at least once per epoch, when the current epoch has ended. All objects of this epoch
  /// must fail with this cause, now and in future.
  void onRevoked(CommException cause);

  /// Called when the rank is entering this epoch. Its earlier messages belong to an earlier epoch.
  void onAnnounced(int rank, long epoch);

  /// Called when a new epoch begins with these members.
  void onEpoch(long epoch, ProcessSet members);
}
