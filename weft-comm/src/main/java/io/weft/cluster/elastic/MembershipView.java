// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import java.util.BitSet;

/// A rank's view of the job. It only grows, by the rank's own observations and by the statements of
/// others. The sets contain world ranks and do not change after construction.
///
/// @param target the epoch to enter next
/// @param gone the ranks that have left the job or are lost, permanently
/// @param left the ranks among those that left in an orderly way
/// @param base the latest epoch that any rank has entered; -1 = none is known, on a joining rank
/// @param members the members of that epoch
/// @param joining the ranks to enter the target in addition to the members
record MembershipView(
    long target, BitSet gone, BitSet left, long base, BitSet members, BitSet joining) {

  /// Returns the view of epoch 0, with all ranks.
  static MembershipView ofWorld(int size) {
    var all = new BitSet(size);
    all.set(0, size);
    return new MembershipView(0, new BitSet(), new BitSet(), 0, all, new BitSet());
  }

  /// Returns the view of a rank that is not in an epoch yet and knows only itself.
  static MembershipView ofJoiner(int rank) {
    var none = new BitSet();
    return new MembershipView(0, none, none, -1, none, with(none, rank));
  }

  MembershipView withTarget(long epoch) {
    return new MembershipView(epoch, gone, left, base, members, joining);
  }

  /// Returns the view after the target was entered by all live candidates.
  MembershipView entered() {
    return new MembershipView(target, gone, left, target, alive(), new BitSet());
  }

  MembershipView without(int rank, boolean inOrder) {
    BitSet alsoLeft = inOrder ? with(left, rank) : left;
    return new MembershipView(target, with(gone, rank), alsoLeft, base, members, joining);
  }

  /// Returns the view with these joiners added, except those that are gone or members.
  MembershipView admitting(BitSet more) {
    BitSet all = union(joining, difference(difference(more, members), gone));
    return new MembershipView(target, gone, left, base, members, all);
  }

  /// Returns the union of both views.
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

  /// The members of the base and the joiners, gone or not.
  BitSet candidates() {
    return union(members, joining);
  }

  BitSet alive() {
    return difference(candidates(), gone);
  }

  BitSet aliveJoining() {
    return difference(joining, gone);
  }

  /// The members of the base that did not leave in an orderly way.
  BitSet entitled() {
    return difference(members, left);
  }

  /// Returns whether the remaining ranks may continue without contacting the others, because no
  /// other part of the job can reach the same conclusion. They must be more than half of the
  /// members of the base, or exactly half with the lowest rank among them. If some rank may have
  /// entered the target with joiners, the remaining ranks must also be such a majority of the
  /// members and those joiners together. A rank that left in an orderly way cannot continue
  /// elsewhere and does not count.
  ///
  /// @param pledged joiners with which some rank has committed to enter
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
