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

/// The agreements of all ranks of a job over simulated connections. A connection preserves the
/// order of messages from one rank to another, but messages of different connections are unordered.
/// It breaks when a rank at one of its ends is lost. Other ranks join: they appear in a list that
/// all members read occasionally, as they would read the store. The simulation checks the epochs
/// that ranks enter. The seed determines it.
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

  /// The kinds of trouble.
  public enum Trouble {
    /// Ranks end.
    CRASHES,
    /// Ranks end, and live ranks are suspected.
    SUSPICIONS
  }

  /// The outcome of a job.
  ///
  /// @param epoch the latest epoch that a rank entered
  /// @param joined number of joiners that were in an epoch at some time
  /// @param lost number of ranks that have ended
  public record Outcome(long epoch, int joined, int lost) {}

  /// The next event of a connection: a statement, or null for its end.
  private record Event(@Nullable Statement statement, boolean inOrder) {}

  /// Creates a job of `size` ranks, which at most `joiners` others join.
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

  /// Simulates a job of 3 to 8 ranks, which 1 to 3 others join, with trouble at random moments.
  /// Throws `AssertionError` if its ranks finally disagree, or if two parts of it continue.
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

  // --- Events.

  void enter(int rank) {
    ranks.get(rank).enter();
    closeCondemned(rank);
    note(rank);
  }

  /// Adds a joiner to the list, connected to all ranks.
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

  /// Makes a member read the list.
  private void admit(int rank, int joiner) {
    asked[rank].set(joiner);
    ranks.get(rank).admit(joiner);
    closeCondemned(rank);
    note(rank);
  }

  /// Returns the next joiner in the list that this member has not read, -1 if none.
  private int unread(int rank) {
    Agreement agreement = ranks.get(rank);
    int joiner = asked[rank].nextClearBit(founders);
    boolean member = agreement.epoch() >= 0 && agreement.stand() != Stand.EXCLUDED;
    return member && joiner < ranks.size() ? joiner : -1;
  }

  /// Ends a rank. A random part of its last statements is lost, then its connections end.
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

  /// Ends a rank after a graceful close of its connections.
  void leave(int rank) {
    crashed[rank] = true;
    for (int peer = 0; peer < ranks.size(); peer++) {
      end(rank, peer, true);
    }
  }

  /// Makes `rank` suspect `peer` and close the connection between them.
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

  /// Sends the pending statement of `rank` to all peers or to some of them.
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

  /// Delivers all statements of one rank to another.
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

  // --- The simulation.

  /// Executes pending actions in random order until none is left.
  void settle() {
    for (int steps = 0; turn(); steps++) {
      require(steps < MOST_STEPS, "it does not end", steps);
    }
  }

  /// Executes up to `number` pending actions in random order.
  void turns(int number) {
    for (int done = 0; done < number && turn(); done++) {
      // The next one.
    }
  }

  /// Adds random trouble while ranks exchange statements, then executes pending actions until none
  /// is left.
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

  /// Executes one random pending action. Returns false if there was none.
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

  /// Returns whether the program must shrink because its operations fail: a member has gone, or the
  /// epoch is revoked.
  private static boolean mustEnter(Agreement agreement) {
    return agreement.stand() == Stand.IDLE
        && (agreement.epoch() < 0
            || agreement.revoked()
            || agreement.wantsMore()
            || !agreement.alive().containsAll(agreement.members().ranks()));
  }

  /// Returns whether the program must end gracefully.
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
      require(others == null || members.equals(others), where + " differs from others", members);
      require(members.contains(rank), where + " does not contain it", members);
    }
  }

  // --- Checks.

  /// Checks that finally every remaining rank is in an epoch whose members remain and are in the
  /// same epoch. With a quorum, all of them are in one epoch. A joiner is with all of them or with
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
      require(members.stream().noneMatch(outside::contains), "a member is in no epoch", outside);
    }
    if (quorum == ShrinkQuorum.MAJORITY) {
      require(living.size() <= 1, "several epochs live, each with a majority", living);
    }
  }

  /// Checks, for a job in which no live rank was suspected, that all live ranks are in one epoch,
  /// unless no live rank was in the previous one.
  void assertAllAreIn() {
    List<Integer> alive = aliveRanks();
    if (alive.stream().allMatch(rank -> ranks.get(rank).epoch() < 0)) {
      return;
    }
    for (int rank : alive) {
      require(ranks.get(rank).epoch() >= 0, "in no epoch is rank", rank);
      List<Integer> members = ranks.get(rank).members().ranks();
      require(members.equals(alive), "rank " + rank + " is not with all live ranks, but", members);
    }
  }

  /// Throws `AssertionError` with the seed and the finding.
  private void require(boolean holds, String what, Object found) {
    if (!holds) {
      throw new AssertionError("seed " + seed + ": " + what + ": " + found);
    }
  }
}
