// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import java.util.BitSet;

/// What a rank believes of the job: only ever grows, by what it notices and by what others say.
/// Sets hold world ranks and are not changed after construction.
///
/// @param target the epoch that the survivors shall enter next
/// @param gone who is out of the job, for whatever reason and for good
/// @param left those of them that left in order
/// @param base the latest epoch that anybody has entered
/// @param members of that epoch
record MembershipView(long target, BitSet gone, BitSet left, long base, BitSet members) {

  /// Epoch 0: nobody is gone.
  static MembershipView ofWorld(int size) {
    var all = new BitSet(size);
    all.set(0, size);
    return new MembershipView(0, new BitSet(size), new BitSet(size), 0, all);
  }

  MembershipView withTarget(long epoch) {
    return new MembershipView(epoch, gone, left, base, members);
  }

  /// Somebody has entered `epoch` with these members.
  MembershipView withBase(long epoch, BitSet who) {
    return new MembershipView(target, gone, left, epoch, who);
  }

  MembershipView without(int rank, boolean inOrder) {
    return new MembershipView(
        target, with(gone, rank), inOrder ? with(left, rank) : left, base, members);
  }

  /// All that either of them knows.
  MembershipView merged(MembershipView other) {
    boolean newer = other.base > base;
    return new MembershipView(
        Math.max(target, other.target),
        union(gone, other.gone),
        union(left, other.left),
        newer ? other.base : base,
        newer ? other.members : members);
  }

  /// Members of the base that are not gone.
  BitSet alive() {
    return difference(members, gone);
  }

  /// Members of the base that did not leave in order.
  BitSet entitled() {
    return difference(members, left);
  }

  /// Whether those who are left may go on without asking the others: no other part of the job can
  /// come to the same conclusion. They are more than half of the members of the base, or exactly
  /// half and the lowest rank among them; who left in order cannot go on elsewhere and does not
  /// count.
  boolean majority() {
    BitSet alive = alive();
    BitSet entitled = entitled();
    int twice = 2 * alive.cardinality();
    return twice > entitled.cardinality()
        || (twice == entitled.cardinality() && alive.get(entitled.nextSetBit(0)));
  }

  private static BitSet with(BitSet set, int rank) {
    BitSet more = (BitSet) set.clone();
    more.set(rank);
    return more;
  }

  private static BitSet union(BitSet a, BitSet b) {
    BitSet both = (BitSet) a.clone();
    both.or(b);
    return both;
  }

  private static BitSet difference(BitSet a, BitSet b) {
    BitSet rest = (BitSet) a.clone();
    rest.andNot(b);
    return rest;
  }
}
