// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.BitSet;
import java.util.List;

/// The members of the job in this epoch; `members.get(r).rank() == r`.
///
/// @param epoch the membership version
/// @param members the members in order of rank
public record Topology(long epoch, List<Member> members) {

  /// Throws `IllegalArgumentException` if the members are not in order of rank.
  public Topology {
    members = List.copyOf(members);
    for (int r = 0; r < members.size(); r++) {
      if (members.get(r).rank() != r) {
        throw new IllegalArgumentException("member " + members.get(r) + " is at position " + r);
      }
    }
  }

  /// Number of present and past ranks, including those that joined while the job ran.
  public int size() {
    return members.size();
  }

  /// Ranks on the same host as `rank`.
  public int localSize(int rank) {
    String host = members.get(rank).host();
    return (int) members.stream().filter(m -> m.host().equals(host)).count();
  }

  /// Number of processors that the ranks of this rank's host may use together; 0 if the processors
  /// of one of them are unknown.
  public int processors(int rank) {
    String host = members.get(rank).host();
    var all = new BitSet();
    for (Member member : members) {
      if (member.host().equals(host)) {
        BitSet its = member.processors().set();
        if (its.isEmpty()) {
          return 0;
        }
        all.or(its);
      }
    }
    return all.cardinality();
  }

  /// Hosts that have a rank with the same local rank as `rank`.
  public int crossSize(int rank) {
    int localRank = members.get(rank).localRank();
    return (int) members.stream().filter(m -> m.localRank() == localRank).count();
  }

  /// Returns "rank 1 on node7", for messages, without the host for an unknown rank.
  public String describe(int rank) {
    String host = rank >= 0 && rank < size() ? members.get(rank).host() : "";
    return "rank " + rank + (host.isEmpty() ? "" : " on " + host);
  }
}
