// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import java.util.BitSet;

/// What a rank believes of the job: only ever grows, by what it notices and by what others say.
/// Sets hold world ranks and are not changed after construction.
///
/// @param target the epoch that shall be entered next
/// @param gone who is out of the job, for whatever reason and for good
/// @param left those of them that left in order
/// @param base the latest epoch that anybody has entered; -1 = none is known, of a rank that joins
/// @param members of that epoch
/// @param joining who shall enter the target besides them
record MembershipView(
    long target, BitSet gone, BitSet left, long base, BitSet members, BitSet joining) {

  /// Epoch 0: nobody is gone.
  static MembershipView ofWorld(int size) {
    var all = new BitSet(size);
    all.set(0, size);
    return new MembershipView(0, new BitSet(), new BitSet(), 0, all, new BitSet());
  }

  /// Of a rank that is in no epoch yet: it knows of nobody but itself.
  static MembershipView ofJoiner(int rank) {
    var none = new BitSet();
    return new MembershipView(0, none, none, -1, none, with(none, rank));
  }

  MembershipView withTarget(long epoch) {
    return new MembershipView(epoch, gone, left, base, members, joining);
  }

  /// All who are alive have entered the target, or will.
  MembershipView entered() {
    return new MembershipView(target, gone, left, target, alive(), new BitSet());
  }

  MembershipView without(int rank, boolean inOrder) {
    BitSet alsoLeft = inOrder ? with(left, rank) : left;
    return new MembershipView(target, with(gone, rank), alsoLeft, base, members, joining);
  }

  /// With these, too, unless they are gone or members.
  MembershipView admitting(BitSet more) {
    BitSet all = union(joining, difference(difference(more, members), gone));
    return new MembershipView(target, gone, left, base, members, all);
  }

  /// All that either of them knows.
  MembershipView merged(MembershipView other) {
    BitSet in = other.base > base ? other.members : members;
    return new MembershipView(
        Math.max(target, other.target),
        union(gone, other.gone),
        union(left, other.left),
        Math.max(base, other.base),
        in,
        difference(union(joining, other.joining), in));
  }

  /// Members of the base, and who shall enter besides them; gone or not.
  BitSet candidates() {
    return union(members, joining);
  }

  /// The candidates that are not gone.
  BitSet alive() {
    return difference(candidates(), gone);
  }

  /// Who shall enter besides the members and is not gone.
  BitSet aliveJoining() {
    return difference(joining, gone);
  }

  /// Members of the base that did not leave in order.
  BitSet entitled() {
    return difference(members, left);
  }

  /// Whether those who are left may go on without asking the others: no other part of the job can
  /// come to the same conclusion. They are more than half of the members of the base, or exactly
  /// half and the lowest rank among them; and, where somebody may have entered the target with
  /// ranks that join, the same of all of these together. Who left in order cannot go on elsewhere
  /// and does not count.
  ///
  /// @param pledged ranks that join, with which somebody has committed to enter
  boolean majority(BitSet pledged) {
    return majorityOf(entitled())
        && (pledged.isEmpty() || majorityOf(difference(union(members, pledged), left)));
  }

  private boolean majorityOf(BitSet entitled) {
    BitSet here = difference(entitled, gone);
    int twice = 2 * here.cardinality();
    return twice > entitled.cardinality()
        || (twice == entitled.cardinality() && twice > 0 && here.get(entitled.nextSetBit(0)));
  }

  static BitSet union(BitSet a, BitSet b) {
    BitSet both = (BitSet) a.clone();
    both.or(b);
    return both;
  }

  private static BitSet with(BitSet set, int rank) {
    BitSet more = (BitSet) set.clone();
    more.set(rank);
    return more;
  }

  private static BitSet difference(BitSet a, BitSet b) {
    BitSet rest = (BitSet) a.clone();
    rest.andNot(b);
    return rest;
  }
}
