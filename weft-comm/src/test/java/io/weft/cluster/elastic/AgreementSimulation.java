// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.elastic.Agreement.Stand;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The agreements of all ranks of a job, over lines that keep the order of what one rank sends to
/// another and no other, and that break with the ranks at their ends. Watches who enters which
/// epoch.
final class AgreementSimulation {

  private static final int MOST_STEPS = 200_000;

  private final long seed;
  private final ShrinkQuorum quorum;
  private final Random random;
  private final List<Agreement> ranks = new ArrayList<>();
  private final TreeMap<Integer, ArrayDeque<Event>> lines = new TreeMap<>();
  private final boolean[] crashed;
  private final boolean[][] broken;
  private final long[] entered;
  private final Map<Long, List<Integer>> epochs = new HashMap<>();

  /// What happens besides speaking.
  enum Trouble {
    CRASHES,
    SUSPICIONS
  }

  /// What a line brings: a statement, or (null) its end.
  private record Event(@Nullable Statement statement, boolean inOrder) {}

  AgreementSimulation(int size, ShrinkQuorum quorum, long seed) {
    this.seed = seed;
    this.quorum = quorum;
    this.random = new Random(seed);
    for (int rank = 0; rank < size; rank++) {
      ranks.add(new Agreement(rank, size, quorum));
    }
    this.crashed = new boolean[size];
    this.broken = new boolean[size][size];
    this.entered = new long[size];
  }

  Agreement rank(int rank) {
    return ranks.get(rank);
  }

  List<Integer> aliveRanks() {
    return IntStream.range(0, ranks.size()).filter(rank -> !crashed[rank]).boxed().toList();
  }

  // --- what can happen

  void enter(int rank) {
    ranks.get(rank).enter();
    note(rank);
  }

  /// The rank ends: of what it sent, a random part is lost, then its lines end.
  void crash(int rank) {
    crashed[rank] = true;
    for (int peer = 0; peer < ranks.size(); peer++) {
      ArrayDeque<Event> line = line(rank, peer);
      for (int lost = random.nextInt(line.size() + 1); lost > 0; lost--) {
        line.removeLast();
      }
      end(rank, peer, false);
    }
  }

  /// The rank says good-bye to all.
  void leave(int rank) {
    crashed[rank] = true;
    for (int peer = 0; peer < ranks.size(); peer++) {
      end(rank, peer, true);
    }
  }

  /// `rank` takes `peer` for lost and closes the line between them.
  private void suspect(int rank, int peer) {
    if (!broken[rank][peer]) {
      end(rank, peer, false);
      line(peer, rank).clear();
      gone(rank, peer, false);
    }
  }

  private void end(int from, int to, boolean inOrder) {
    if (from != to) {
      line(from, to).addLast(new Event(null, inOrder));
    }
  }

  private void gone(int rank, int peer, boolean inOrder) {
    broken[rank][peer] = true;
    ranks.get(rank).onGone(peer, inOrder);
    note(rank);
  }

  private ArrayDeque<Event> line(int from, int to) {
    return lines.computeIfAbsent(from * ranks.size() + to, key -> new ArrayDeque<>());
  }

  /// Sends what `rank` owes, to all or to some.
  private void speak(int rank) {
    Agreement agreement = ranks.get(rank);
    for (int peer = agreement.nextPending(0); peer >= 0; peer = agreement.nextPending(peer + 1)) {
      if (!broken[rank][peer]) {
        Statement said = Objects.requireNonNull(agreement.said());
        line(rank, peer).addLast(new Event(said, false));
      }
      agreement.sent(peer);
      if (random.nextInt(4) == 0) {
        return;
      }
    }
  }

  /// Brings all that one rank has for another now.
  void deliverAll(int from, int to) {
    while (ranks.get(from).nextPending(0) >= 0) {
      speak(from);
    }
    while (!line(from, to).isEmpty()) {
      deliver(from, to);
    }
  }

  private void deliver(int from, int to) {
    Event event = line(from, to).removeFirst();
    if (crashed[to] || broken[to][from]) {
      return;
    }
    if (event.statement() == null) {
      gone(to, from, event.inOrder());
      return;
    }
    Agreement agreement = ranks.get(to);
    agreement.onStatement(from, event.statement());
    int doomed;
    while ((doomed = agreement.takeCondemned()) >= 0) {
      suspect(to, doomed);
    }
    note(to);
  }

  // --- playing

  /// Lets everybody do what is to be done, in random order, until there is nothing left.
  void settle() {
    for (int steps = 0; turn(); steps++) {
      assertThat(steps).as("-Dweft.test.seed=%d does not end", seed).isLessThan(MOST_STEPS);
    }
  }

  /// Random troubles while ranks speak; then none, until there is nothing left to be done.
  void play(Trouble trouble) {
    int eventLog = 1 + random.nextInt(2 * ranks.size());
    for (int steps = 20 + random.nextInt(300); steps > 0; steps--) {
      if (eventLog > 0 && random.nextInt(8) == 0) {
        eventLog--;
        happen(trouble);
      }
      var unused = turn();
    }
    settle();
  }

  private void happen(Trouble trouble) {
    int rank = random.nextInt(ranks.size());
    int other = random.nextInt(ranks.size());
    if (crashed[rank]) {
      return;
    }
    if (random.nextInt(3) == 0) {
      ranks.get(rank).withdraw();
    } else if (trouble == Trouble.SUSPICIONS && random.nextBoolean()) {
      if (other != rank && !crashed[other]) {
        suspect(rank, other);
      }
    } else if (random.nextInt(6) == 0) {
      enter(rank);
    } else if (aliveRanks().size() > 1) {
      crash(rank);
    }
  }

  /// One random thing that is due; returns whether there was any.
  private boolean turn() {
    List<Runnable> due = new ArrayList<>();
    for (int rank : aliveRanks()) {
      if (mustEnter(ranks.get(rank))) {
        due.add(() -> enter(rank));
      }
      if (isOut(ranks.get(rank))) {
        due.add(() -> leave(rank));
      }
      if (ranks.get(rank).nextPending(0) >= 0) {
        due.add(() -> speak(rank));
      }
    }
    lines.forEach(
        (key, line) -> {
          if (!line.isEmpty()) {
            due.add(() -> deliver(key / ranks.size(), key % ranks.size()));
          }
        });
    if (due.isEmpty()) {
      return false;
    }
    due.get(random.nextInt(due.size())).run();
    return true;
  }

  /// A program comes to shrink once its operations fail: a member is gone, or the epoch is revoked.
  private static boolean mustEnter(Agreement agreement) {
    return agreement.stand() == Stand.IDLE
        && (agreement.revoked() || !agreement.alive().containsAll(agreement.members().ranks()));
  }

  /// Then the program ends in order.
  private static boolean isOut(Agreement agreement) {
    return agreement.stand() == Stand.TOO_FEW || agreement.stand() == Stand.EXCLUDED;
  }

  private void note(int rank) {
    Agreement agreement = ranks.get(rank);
    if (agreement.epoch() > entered[rank]) {
      entered[rank] = agreement.epoch();
      List<Integer> members = agreement.members().ranks();
      List<Integer> others = epochs.putIfAbsent(agreement.epoch(), members);
      assertThat(members)
          .as("-Dweft.test.seed=%d: epoch %d of rank %d", seed, agreement.epoch(), rank)
          .isEqualTo(others == null ? members : others)
          .contains(rank);
    }
  }

  // --- judging

  /// When all is quiet, every rank that is left is in an epoch with ranks that are left and are in
  /// the same one; with a quorum all of them are.
  void assertAgreement() {
    List<List<Integer>> living = new ArrayList<>();
    for (int rank : aliveRanks()) {
      Agreement agreement = ranks.get(rank);
      String where = "-Dweft.test.seed=%d: rank %d of %d".formatted(seed, rank, ranks.size());
      assertThat(agreement.stand()).as(where).isEqualTo(Stand.IDLE);
      List<Integer> members = agreement.members().ranks();
      assertThat(aliveRanks()).as(where).containsAll(members);
      for (int member : members) {
        assertThat(ranks.get(member).epoch()).as(where).isEqualTo(agreement.epoch());
      }
      if (!living.contains(members)) {
        living.add(members);
      }
    }
    if (quorum == ShrinkQuorum.MAJORITY) {
      assertThat(living).as("-Dweft.test.seed=%d", seed).hasSizeLessThanOrEqualTo(1);
    }
  }
}
