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

/// How ranks agree on who is in the next epoch, as seen from one of them: those that are left, and
/// those that one of them has admitted. A state machine without clock, thread or network. Failures
/// are fail-stop: whom anybody has declared gone is gone for all, also if it comes back.
///
/// A rank that takes part tells all others its view; views are merged, so they only grow. When all
/// who are left have said exactly this rank's view, it *commits* to it; when all have committed, it
/// enters the view's target epoch. A rank commits to an epoch once: whatever it learns afterwards
/// makes it aim for the next epoch. So two ranks that enter the same epoch enter it with the same
/// members. Merging ends because views are bounded: with the failures ends the agreement.
///
/// A rank that has entered an epoch while another one, by a further failure, could not, hears that
/// one propose the next epoch, and comes too: an epoch lives when all of its members have entered.
///
/// A rank that joins is in no epoch, knows nobody, and waits until a member that has admitted it
/// proposes: then it takes part like the others. All of an epoch enter it with the same joiners, or
/// none with any. Once a rank has committed it admits nobody before the next epoch: who may have
/// entered the epoch that it committed to is then known to all that can go on from here.
final class Agreement {

  /// Where this rank stands.
  enum Stand {
    /// In an epoch, or out of it and not (or no longer) trying to enter another.
    IDLE,
    /// Trying.
    TAKING_PART,
    /// All who are left agree, and are too few.
    TOO_FEW,
    /// Others went on without this rank.
    EXCLUDED
  }

  private final int rank;
  private final ShrinkQuorum quorum;
  private @Nullable Statement[] heard;

  /// Whose latest statement has not been taken yet: this rank does not know of that rank.
  private final BitSet untaken = new BitSet();

  /// Ranks that this one wants to be admitted.
  private final BitSet wanted = new BitSet();

  private final BitSet owed = new BitSet();
  private final BitSet condemned = new BitSet();
  private Stand stand = Stand.IDLE;
  private MembershipView view;
  private @Nullable Statement said;
  private long epoch;
  private BitSet members;
  private long committed = -1;

  /// The base on which this rank has last committed.
  private long committedBase = -2;

  /// Ranks that join, with which somebody has committed to enter the next epoch after the base.
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

  /// Of a rank of a job of this size, in epoch 0.
  static Agreement ofMember(int rank, int size, ShrinkQuorum quorum) {
    return new Agreement(rank, quorum, MembershipView.ofWorld(size));
  }

  /// Of a rank that is in no epoch yet, and takes part as soon as a member admits it.
  static Agreement ofJoiner(int rank, ShrinkQuorum quorum) {
    var joiner = new Agreement(rank, quorum, MembershipView.ofJoiner(rank));
    joiner.stand = Stand.TAKING_PART;
    return joiner;
  }

  // --- what happens

  /// This rank wants to enter the next epoch. No effect while it takes part already.
  void enter() {
    if (stand == Stand.TAKING_PART || stand == Stand.EXCLUDED) {
      return;
    }
    stand = Stand.TAKING_PART;
    learn(view.withTarget(Math.max(view.target(), epoch + 1)));
    admitWanted();
    step();
  }

  /// This rank wants another one, which is in no epoch, to enter the next one with all others: the
  /// one that is being agreed on, or the one after the next `enter`.
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

  /// This rank no longer waits for the others. What it has committed to, it stays committed to.
  void withdraw() {
    if (stand == Stand.TAKING_PART) {
      stand = Stand.IDLE;
    }
  }

  /// A rank is lost, or left in order.
  void onGone(int peer, boolean inOrder) {
    learn(view.without(peer, inOrder));
    step();
  }

  /// Another rank has said this. What a rank says that is gone has no effect; what one says of whom
  /// this rank does not know counts when it does.
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

  /// What one says may make others known.
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

  /// A commitment holds for one view: with another one this rank must aim further.
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

  /// Ranks that join do not go on without any that was there before them.
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

  /// Whether all who are left have said this rank's view and are at least as far.
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

  // --- what is to be done

  /// To be sent to those whom `owes` names; only the latest statement counts.
  @Nullable Statement said() {
    return said;
  }

  /// The next rank from `from` on that has not been sent `said`, -1 if there is none.
  int nextPending(int from) {
    return owed.nextSetBit(from);
  }

  /// It was sent, or the rank is gone.
  void sent(int peer) {
    owed.clear(peer);
  }

  /// A rank whose connection must be closed because another rank declared it gone; -1 if there is
  /// none. Each is named once.
  int takeCondemned() {
    int peer = condemned.nextSetBit(0);
    if (peer >= 0) {
      condemned.clear(peer);
    }
    return peer;
  }

  // --- what is known

  Stand stand() {
    return stand;
  }

  /// The epoch that this rank has entered last; -1 = none.
  long epoch() {
    return epoch;
  }

  /// Its members.
  ProcessSet members() {
    return new ProcessSet(members.stream().boxed().toList());
  }

  /// Whether this rank wants ranks to be admitted that no agreement is about yet.
  boolean wantsMore() {
    wanted.andNot(view.gone());
    wanted.andNot(view.candidates());
    return !wanted.isEmpty();
  }

  /// Whether another rank is on its way into a later epoch than this one's.
  boolean revoked() {
    return announced > epoch;
  }

  /// Who declared this rank gone, -1 if nobody did.
  int excludedBy() {
    return excludedBy;
  }

  /// How many ranks there would be if none had been lost: members of the latest epoch that did not
  /// leave in order, and those with which the next one may have been entered.
  int before() {
    return entitled().cardinality();
  }

  /// Those of them that were lost; never empty where too few members are left.
  List<Integer> lost() {
    return entitled().stream().filter(peer -> view.gone().get(peer)).boxed().toList();
  }

  private BitSet entitled() {
    BitSet all = MembershipView.union(view.entitled(), pledged);
    all.andNot(view.left());
    return all;
  }

  /// Ranks that are not gone, this one included.
  List<Integer> alive() {
    return view.alive().stream().boxed().toList();
  }

  /// Of those who are left, the ones that have not come to this agreement; if all have, the ones
  /// whose last word is missing.
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
