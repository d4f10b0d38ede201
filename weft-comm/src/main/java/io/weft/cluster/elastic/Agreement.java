// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.cluster.ProcessSet;
import io.weft.cluster.elastic.Statement.Stage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The agreement of ranks on the members of the next epoch, as the state of one rank. The members
/// are the surviving ranks and those that one of them has admitted. It is a state machine without
/// clock, thread or network. Failures are fail-stop: a rank that any rank has declared gone is gone
/// for all, even if it comes back.
///
/// Each participating rank sends its view to all others. Views are merged, so they only grow. When
/// all remaining ranks have sent exactly this rank's view, it *commits* to the view. When all have
/// committed, it enters the view's target epoch. A rank commits to an epoch once; any later change
/// of its view makes it aim for the next epoch. Therefore two ranks that enter the same epoch enter
/// it with the same members. Merging terminates because views are bounded, so the agreement ends
/// when the failures end.
///
/// If a further failure kept a rank from entering an epoch that others have entered, it proposes
/// the next epoch, and the others join that agreement too. An epoch is established when all its
/// members have entered it.
///
/// A rank that joins the job is not in an epoch and knows no other rank. It waits until a member
/// that has admitted it proposes, then takes part like the others. All ranks enter an epoch with
/// the same joiners, or none with any. A committed rank admits no rank before the next epoch, so
/// all ranks that can continue know the ranks that may have entered the epoch to which it
/// committed.
///
/// The simulation admits ranks. No product code does: a process that joins a running job gets
/// connections, but is not a member of an epoch (docs/adr/0081-peers-that-grow.md).
final class Agreement {

  /// The state of this rank in the agreement.
  enum Stand {
    /// In an epoch, or outside any epoch without (or no longer) trying to enter one.
    IDLE,
    /// Trying to enter the next epoch.
    TAKING_PART,
    /// All remaining ranks agree, but they are too few.
    TOO_FEW,
    /// Others continued without this rank.
    EXCLUDED
  }

  private final int rank;
  private final ShrinkQuorum quorum;
  private @Nullable Statement[] heard;

  /// Ranks whose latest statement has not been processed, because this rank does not know them yet.
  private final BitSet untaken = new BitSet();

  /// Ranks that this rank wants to admit.
  private final BitSet wanted = new BitSet();

  private final BitSet owed = new BitSet();
  private final BitSet condemned = new BitSet();
  private Stand stand = Stand.IDLE;
  private MembershipView view;
  private @Nullable Statement said;
  private long epoch;
  private BitSet members;
  private long committed = -1;

  /// The base of this rank's last commitment.
  private long committedBase = -2;

  /// Joiners with which some rank has committed to enter the next epoch after the base.
  private BitSet pledged = new BitSet();

  private long announced;
  private int excludedBy = -1;

  private Agreement(int rank, ShrinkQuorum quorum, MembershipView view) {
    this.rank = rank;
    this.quorum = quorum;
    this.heard = new Statement[rank + 1];
    this.view = view;
    this.epoch = view.base();
    this.members = view.members();
  }

  /// Creates the state of a rank of a job of this size, in epoch 0.
  static Agreement ofMember(int rank, int size, ShrinkQuorum quorum) {
    return new Agreement(rank, quorum, MembershipView.ofWorld(size));
  }

  /// Creates the state of a rank that is not in an epoch yet. It takes part as soon as a member
  /// admits it.
  static Agreement ofJoiner(int rank, ShrinkQuorum quorum) {
    var joiner = new Agreement(rank, quorum, MembershipView.ofJoiner(rank));
    joiner.stand = Stand.TAKING_PART;
    return joiner;
  }

  // --- events

  /// Starts to take part, because this rank wants to enter the next epoch. No effect while it
  /// already takes part.
  void enter() {
    if (stand == Stand.TAKING_PART || stand == Stand.EXCLUDED) {
      return;
    }
    stand = Stand.TAKING_PART;
    learn(view.withTarget(Math.max(view.target(), epoch + 1)));
    admitWanted();
    step();
  }

  /// Requests that a rank outside the epoch enter the next one with all others: the epoch of the
  /// current agreement, or the one after the next `enter`.
  void admit(int joiner) {
    if (!view.gone().get(joiner) && !view.candidates().get(joiner)) {
      wanted.set(joiner);
    }
    if (stand == Stand.TAKING_PART) {
      admitWanted();
      step();
    }
  }

  private void admitWanted() {
    if (view.base() >= 0 && committedBase != view.base()) {
      learn(view.admitting(wanted));
      wanted.clear();
      takeAll();
    }
  }

  /// Stops waiting for the others. An earlier commitment stays in force.
  void withdraw() {
    if (stand == Stand.TAKING_PART) {
      stand = Stand.IDLE;
    }
  }

  /// Handles a rank that is lost or has left in an orderly way.
  void onGone(int peer, boolean inOrder) {
    learn(view.without(peer, inOrder));
    step();
  }

  /// Handles the statement of another rank. A statement of a rank that is gone has no effect. A
  /// statement of a rank that this rank does not know yet is kept until it does.
  void onStatement(int peer, Statement statement) {
    if (view.gone().get(peer)) {
      return;
    }
    if (peer >= heard.length) {
      heard = Arrays.copyOf(heard, peer + 1);
    }
    heard[peer] = statement;
    untaken.set(peer);
    takeAll();
    step();
  }

  /// Processes the kept statements. Each may make further ranks known.
  private void takeAll() {
    int peer = nextKnown();
    while (peer >= 0 && stand != Stand.EXCLUDED) {
      untaken.clear(peer);
      take(peer, Objects.requireNonNull(heard[peer]));
      peer = nextKnown();
    }
  }

  private int nextKnown() {
    for (int peer = untaken.nextSetBit(0); peer >= 0; peer = untaken.nextSetBit(peer + 1)) {
      Statement statement = Objects.requireNonNull(heard[peer]);
      MembershipView its = statement.view();
      boolean invites = view.base() < 0 && (its.joining().get(rank) || its.gone().get(rank));
      if (!view.gone().get(peer) && (invites || view.candidates().get(peer))) {
        return peer;
      }
    }
    return -1;
  }

  private void take(int peer, Statement statement) {
    announced = Math.max(announced, statement.view().target());
    if (statement.view().gone().get(rank)) {
      stand = Stand.EXCLUDED;
      excludedBy = peer;
      return;
    }
    BitSet news = (BitSet) statement.view().gone().clone();
    news.andNot(view.gone());
    condemned.or(news);
    if (statement.view().base() == view.base()) {
      pledged = MembershipView.union(pledged, statement.pledged());
    } else if (statement.view().base() > view.base()) {
      pledged = statement.pledged();
    }
    learn(view.merged(statement.view()));
  }

  /// Adopts a view. A commitment holds for one view, so a different view makes a committed rank aim
  /// for a later epoch.
  private void learn(MembershipView next) {
    if (next.equals(view)) {
      return;
    }
    boolean bound = committed == view.target() && next.target() == view.target();
    view = bound ? next.withTarget(next.target() + 1) : next;
  }

  private void step() {
    if (stand != Stand.TAKING_PART || view.base() < 0) {
      return;
    }
    if (said == null || !said.view().equals(view)) {
      say(Stage.PROPOSE);
    }
    if (committed != view.target() && allSaid(Stage.PROPOSE)) {
      if (!mayGoOn()) {
        stand = Stand.TOO_FEW;
        return;
      }
      committed = view.target();
      committedBase = view.base();
      pledged = MembershipView.union(pledged, view.aliveJoining());
      say(Stage.COMMIT);
    }
    if (committed == view.target() && allSaid(Stage.COMMIT)) {
      stand = Stand.IDLE;
      epoch = view.target();
      members = view.alive();
      view = view.entered();
      pledged = new BitSet();
    }
  }

  /// Returns whether the remaining ranks may continue. Joiners do not continue without an earlier
  /// member.
  private boolean mayGoOn() {
    return quorum == ShrinkQuorum.MAJORITY
        ? view.majority(pledged)
        : view.alive().intersects(view.members());
  }

  private void say(Stage stage) {
    said = new Statement(stage, view, pledged);
    owed.clear();
    owed.or(view.alive());
    owed.clear(rank);
  }

  /// Returns whether all remaining ranks have sent this rank's view and have reached at least this
  /// stage.
  private boolean allSaid(Stage stage) {
    return view.alive().stream()
        .allMatch(
            peer -> {
              Statement statement = heard(peer);
              return peer == rank
                  || (statement != null
                      && statement.stage().compareTo(stage) >= 0
                      && statement.view().equals(view));
            });
  }

  private @Nullable Statement heard(int peer) {
    return peer < heard.length ? heard[peer] : null;
  }

  // --- actions

  /// The statement to send to the ranks in `owed`. Only the latest statement counts.
  @Nullable Statement said() {
    return said;
  }

  /// Returns the next rank from `from` on to which `said` has not been sent, or -1.
  int nextPending(int from) {
    return owed.nextSetBit(from);
  }

  /// Notes that the statement was sent to a rank, or that the rank is gone.
  void sent(int peer) {
    owed.clear(peer);
  }

  /// Returns a rank whose connection must be closed because another rank declared it gone, or -1.
  /// Each is returned once.
  int takeCondemned() {
    int peer = condemned.nextSetBit(0);
    if (peer >= 0) {
      condemned.clear(peer);
    }
    return peer;
  }

  // --- state

  Stand stand() {
    return stand;
  }

  /// The epoch that this rank has entered last; -1 = none.
  long epoch() {
    return epoch;
  }

  ProcessSet members() {
    return new ProcessSet(members.stream().boxed().toList());
  }

  /// Returns whether this rank wants to admit ranks that no agreement includes yet.
  boolean wantsMore() {
    wanted.andNot(view.gone());
    wanted.andNot(view.candidates());
    return !wanted.isEmpty();
  }

  /// Returns whether another rank is entering a later epoch than this rank's.
  boolean revoked() {
    return announced > epoch;
  }

  /// The rank that declared this one gone, or -1.
  int excludedBy() {
    return excludedBy;
  }

  /// Number of ranks without any loss: the members of the latest epoch that did not leave in an
  /// orderly way, and the joiners with which the next one may have been entered.
  int before() {
    return entitled().cardinality();
  }

  /// The lost ranks among those; never empty if too few members remain.
  List<Integer> lost() {
    return entitled().stream().filter(peer -> view.gone().get(peer)).boxed().toList();
  }

  private BitSet entitled() {
    BitSet all = MembershipView.union(view.entitled(), pledged);
    all.andNot(view.left());
    return all;
  }

  /// The ranks that are not gone, including this one.
  List<Integer> alive() {
    return view.alive().stream().boxed().toList();
  }

  /// The remaining ranks that have not joined this agreement. If all have, the ranks whose
  /// commitment is missing.
  List<Integer> missing() {
    List<Integer> absent = new ArrayList<>();
    List<Integer> behind = new ArrayList<>();
    for (int peer : alive()) {
      Statement statement = heard(peer);
      if (peer == rank) {
        continue;
      }
      if (statement == null || statement.view().target() <= epoch) {
        absent.add(peer);
      } else if (!statement.view().equals(view) || statement.stage() != Stage.COMMIT) {
        behind.add(peer);
      }
    }
    return absent.isEmpty() ? behind : absent;
  }
}
