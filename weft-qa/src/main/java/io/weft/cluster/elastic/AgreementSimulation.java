// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.cluster.elastic.Agreement.Stand;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/// The agreements of all ranks of a job, over lines that keep the order of what one rank sends to
/// another and no other, and that break with the ranks at their ends. Ranks are lost, and others
/// join: they stand in a list that all members read now and then, as they would read the store.
/// Watches who enters which epoch. A function of its seed.
@NullMarked
public final class AgreementSimulation {

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
  private final int founders;
  private final int most;
  private final BitSet[] asked;

  /// What happens besides speaking.
  public enum Trouble {
    /// Ranks end.
    CRASHES,
    /// Ranks end, and ranks that live are taken for lost.
    SUSPICIONS
  }

  /// What became of a job.
  ///
  /// @param epoch the latest that anybody entered
  /// @param joined how many ranks that joined were in an epoch at some time
  /// @param lost how many ranks are not there any more
  public record Outcome(long epoch, int joined, int lost) {}

  /// What a line brings: a statement, or (null) its end.
  private record Event(@Nullable Statement statement, boolean inOrder) {}

  /// Of a job of so many ranks, which at most so many others join.
  AgreementSimulation(int size, int joiners, ShrinkQuorum quorum, long seed) {
    this.seed = seed;
    this.quorum = quorum;
    this.random = new Random(seed);
    this.founders = size;
    this.most = size + joiners;
    for (int rank = 0; rank < size; rank++) {
      ranks.add(Agreement.ofMember(rank, size, quorum));
    }
    this.crashed = new boolean[most];
    this.broken = new boolean[most][most];
    this.entered = new long[most];
    this.asked = new BitSet[most];
    for (int rank = 0; rank < most; rank++) {
      asked[rank] = new BitSet();
      entered[rank] = rank < size ? 0 : -1;
    }
  }

  /// Plays a job of 3 to 8 ranks which 1 to 3 others join, with troubles at random moments, and
  /// throws `AssertionError` where its ranks do not agree in the end, or two parts of it go on.
  public static Outcome play(long seed, Trouble trouble) {
    ShrinkQuorum quorum = trouble == Trouble.CRASHES ? ShrinkQuorum.ANY : ShrinkQuorum.MAJORITY;
    var job =
        new AgreementSimulation(
            3 + (int) Math.floorMod(seed, 6L), 1 + (int) Math.floorMod(seed, 3L), quorum, seed);
    job.play(trouble);
    job.assertAgreement();
    if (trouble == Trouble.CRASHES) {
      job.assertAllAreIn();
    }
    return job.outcome();
  }

  private Outcome outcome() {
    long last = epochs.keySet().stream().mapToLong(Long::longValue).max().orElse(0);
    int joined = (int) IntStream.range(founders, most).filter(r -> entered[r] >= 0).count();
    return new Outcome(last, joined, ranks.size() - aliveRanks().size());
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
    closeCondemned(rank);
    note(rank);
  }

  /// A rank joins: it is in the list, and connected with all.
  int join() {
    int rank = ranks.size();
    ranks.add(Agreement.ofJoiner(rank, quorum));
    for (int peer = 0; peer < rank; peer++) {
      if (crashed[peer]) {
        end(peer, rank, false);
      }
    }
    return rank;
  }

  /// A member reads the list.
  private void admit(int rank, int joiner) {
    asked[rank].set(joiner);
    ranks.get(rank).admit(joiner);
    closeCondemned(rank);
    note(rank);
  }

  /// The next rank that has joined and of which this member has not read; -1 if there is none.
  private int unread(int rank) {
    Agreement agreement = ranks.get(rank);
    int joiner = asked[rank].nextClearBit(founders);
    boolean member = agreement.epoch() >= 0 && agreement.stand() != Stand.EXCLUDED;
    return member && joiner < ranks.size() ? joiner : -1;
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
    return lines.computeIfAbsent(from * most + to, key -> new ArrayDeque<>());
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
    closeCondemned(to);
    note(to);
  }

  private void closeCondemned(int rank) {
    int doomed;
    while ((doomed = ranks.get(rank).takeCondemned()) >= 0) {
      suspect(rank, doomed);
    }
  }

  // --- playing

  /// Lets everybody do what is to be done, in random order, until there is nothing left.
  void settle() {
    for (int steps = 0; turn(); steps++) {
      require(steps < MOST_STEPS, "it does not end", steps);
    }
  }

  /// Lets everybody do so many things that are to be done, in random order.
  void turns(int number) {
    for (int done = 0; done < number && turn(); done++) {
      // The next one.
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
    if (ranks.size() < most && random.nextInt(3) == 0) {
      int unused = join();
      return;
    }
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
      int joiner = unread(rank);
      if (joiner >= 0) {
        due.add(() -> admit(rank, joiner));
      }
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
            due.add(() -> deliver(key / most, key % most));
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
        && (agreement.epoch() < 0
            || agreement.revoked()
            || agreement.wantsMore()
            || !agreement.alive().containsAll(agreement.members().ranks()));
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
      String where = "epoch " + agreement.epoch() + " of rank " + rank;
      require(others == null || members.equals(others), where + " is not that of others", members);
      require(members.contains(rank), where + " is without it", members);
    }
  }

  // --- judging

  /// When all is quiet, every rank that is left is in an epoch with ranks that are left and are in
  /// the same one; with a quorum all of them are. A rank that joins is with all of them or with
  /// none.
  void assertAgreement() {
    List<List<Integer>> living = new ArrayList<>();
    List<Integer> outside = new ArrayList<>();
    for (int rank : aliveRanks()) {
      Agreement agreement = ranks.get(rank);
      String where = "rank %d of %d".formatted(rank, ranks.size());
      if (agreement.epoch() < 0) {
        outside.add(rank);
        continue;
      }
      require(agreement.stand() == Stand.IDLE, where + " is not idle", agreement.stand());
      List<Integer> members = agreement.members().ranks();
      require(aliveRanks().containsAll(members), where + " is with lost ranks", members);
      for (int member : members) {
        require(
            ranks.get(member).epoch() == agreement.epoch(),
            where + ", epoch " + agreement.epoch() + ", counts on rank in another epoch",
            member);
      }
      if (!living.contains(members)) {
        living.add(members);
      }
    }
    for (List<Integer> members : living) {
      require(members.stream().noneMatch(outside::contains), "outside, and a member", outside);
    }
    if (quorum == ShrinkQuorum.MAJORITY) {
      require(living.size() <= 1, "several epochs live, each with a majority", living);
    }
  }

  /// Where no rank that lives was taken for lost: all who live are in one epoch, unless none is
  /// left that was in the one before.
  void assertAllAreIn() {
    List<Integer> alive = aliveRanks();
    if (alive.stream().allMatch(rank -> ranks.get(rank).epoch() < 0)) {
      return;
    }
    for (int rank : alive) {
      require(ranks.get(rank).epoch() >= 0, "in no epoch is rank", rank);
      List<Integer> members = ranks.get(rank).members().ranks();
      require(members.equals(alive), "rank " + rank + " is not with all who live, but", members);
    }
  }

  /// Throws `AssertionError` with the seed and what was found.
  private void require(boolean holds, String what, Object found) {
    if (!holds) {
      throw new AssertionError("-Dweft.test.seed=" + seed + ": " + what + ": " + found);
    }
  }
}
