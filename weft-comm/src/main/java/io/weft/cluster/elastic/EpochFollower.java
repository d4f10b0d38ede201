// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.cluster.ProcessSet;
import io.weft.comm.CommException;

/// What lives from epoch to epoch, such as the collectives. All on the progress thread; must not
/// block.
public interface EpochFollower {

  /// The present epoch has ended: whatever belongs to it fails now and in future, with this cause.
  /// Said once per epoch or more often.
  void onRevoked(CommException cause);

  /// The rank is on its way into this epoch: what it sent so far belongs to an earlier one.
  void onAnnounced(int rank, long epoch);

  /// A new epoch begins, with these members.
  void onEpoch(long epoch, ProcessSet members);
}
