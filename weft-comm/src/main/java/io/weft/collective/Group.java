// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.CommException;
import io.weft.cluster.ProcessSet;
import io.weft.cluster.Topology;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A communicator as the lane sees it: its members, its key on the wire, and why it failed if it
/// did. The members are fixed; the rest is confined to the lane's thread.
final class Group {

  private final long key;
  private final ProcessSet set;
  private final Topology topology;
  private final int rank;
  private final int[] memberOf;
  private @Nullable CommException failure;

  /// `instance` counts the communicators of the same set.
  Group(ProcessSet set, int instance, Topology topology, int worldRank) {
    this.key = Hash.of(instance, "set " + set.ranks() + " of epoch " + topology.epoch());
    this.set = set;
    this.topology = topology;
    this.rank = set.rankOf(worldRank);
    this.memberOf = new int[topology.size()];
    Arrays.fill(memberOf, -1);
    for (int m = 0; m < set.size(); m++) {
      memberOf[set.ranks().get(m)] = m;
    }
  }

  long key() {
    return key;
  }

  int rank() {
    return rank;
  }

  int size() {
    return set.size();
  }

  int world(int member) {
    return set.ranks().get(member);
  }

  /// The member with this world rank, -1 if there is none.
  int member(int worldRank) {
    return memberOf[worldRank];
  }

  /// "rank 1 on node7", world rank.
  String describe(int member) {
    return topology.describe(world(member));
  }

  String self() {
    return describe(rank);
  }

  /// Why no operation can succeed any more; null while they can.
  @Nullable CommException failure() {
    return failure;
  }

  /// Only the first failure counts; returns whether this was it.
  boolean failWith(CommException cause) {
    if (failure != null) {
      return false;
    }
    failure = cause;
    return true;
  }
}
