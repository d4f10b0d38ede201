// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.cluster.ProcessSet;
import io.weft.cluster.elastic.Statement.Stage;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// How the ranks that are left agree on who goes on, as seen from one of them: a state machine
/// without clock, thread or network. Failures are fail-stop: whom anybody has declared gone is gone
/// for all, also if it comes back.
///
/// A rank that takes part tells all others its view; views are merged, so they only grow. When all
/// who are left have said exactly this rank's view, it *commits* to it; when all have committed, it
/// enters the view's target epoch. A rank commits to an epoch once: whatever it learns afterwards
/// makes it aim for the next epoch. So two ranks that enter the same epoch enter it with the same
/// members. Merging ends because views are bounded: with the failures ends the agreement.
///
/// A rank that has entered an epoch while another one, by a further failure, could not, hears that
/// one propose the next epoch, and comes too: an epoch lives when all of its members have entered.
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
  private final @Nullable Statement[] heard;
  private final BitSet owed = new BitSet();
  private final BitSet condemned = new BitSet();
  private Stand stand = Stand.IDLE;
  private MembershipView view;
  private @Nullable Statement said;
  private long epoch;
  private BitSet members;
  private long committed = -1;
  private long announced;
  private int excludedBy = -1;

  /// Of a rank of a job of this size, in epoch 0.
  Agreement(int rank, int size, ShrinkQuorum quorum) {
    this.rank = rank;
    this.quorum = quorum;
    this.heard = new Statement[size];
    this.view = MembershipView.ofWorld(size);
    this.members = view.members();
  }

  // --- what happens

  /// This rank wants to enter the next epoch. No effect while it takes part already.
  void enter() {
    if (stand == Stand.TAKING_PART || stand == Stand.EXCLUDED) {
      return;
    }
    stand = Stand.TAKING_PART;
    learn(view.withTarget(Math.max(view.target(), epoch + 1)));
    step();
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

  /// Another rank has said this. What a rank says that is gone has no effect.
  void onStatement(int peer, Statement statement) {
    if (view.gone().get(peer)) {
      return;
    }
    heard[peer] = statement;
    announced = Math.max(announced, statement.view().target());
    if (statement.view().gone().get(rank)) {
      stand = Stand.EXCLUDED;
      excludedBy = peer;
      return;
    }
    condemned.or(statement.view().gone());
    condemned.andNot(view.gone());
    learn(view.merged(statement.view()));
    step();
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
    if (stand != Stand.TAKING_PART) {
      return;
    }
    if (said == null || !said.view().equals(view)) {
      say(Stage.PROPOSE);
    }
    if (committed != view.target() && allSaid(Stage.PROPOSE)) {
      if (quorum == ShrinkQuorum.MAJORITY && !view.majority()) {
        stand = Stand.TOO_FEW;
        return;
      }
      committed = view.target();
      say(Stage.COMMIT);
    }
    if (committed == view.target() && allSaid(Stage.COMMIT)) {
      stand = Stand.IDLE;
      epoch = view.target();
      members = view.alive();
      view = view.withBase(epoch, members);
    }
  }

  private void say(Stage stage) {
    said = new Statement(stage, view);
    owed.clear();
    owed.or(view.alive());
    owed.clear(rank);
  }

  /// Whether all who are left have said this rank's view and are at least as far.
  private boolean allSaid(Stage stage) {
    return view.alive().stream()
        .allMatch(
            peer -> {
              Statement statement = heard[peer];
              return peer == rank
                  || (statement != null
                      && statement.stage().compareTo(stage) >= 0
                      && statement.view().equals(view));
            });
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

  /// The epoch that this rank has entered last.
  long epoch() {
    return epoch;
  }

  /// Its members.
  ProcessSet members() {
    return new ProcessSet(members.stream().boxed().toList());
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
  /// leave in order.
  int before() {
    return view.entitled().cardinality();
  }

  /// Members of the latest epoch that were lost; never empty where too few are left.
  List<Integer> lost() {
    return view.entitled().stream().filter(peer -> view.gone().get(peer)).boxed().toList();
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
      Statement statement = heard[peer];
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
