// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.dataparallel.frame.Announcement;
import io.weft.dataparallel.frame.RoundReport;
import io.weft.dataparallel.frame.Signatures;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.tensor.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks the negotiations of all ranks, with rounds in memory and with manual time.
class NegotiationTest {

  private static final TensorSignature ONE = Signatures.floats(1);
  private static final long SECOND = 1_000_000_000;
  private static final long STALL = 10 * SECOND;
  private static final long DEADLINE = 60 * SECOND;

  private final List<Negotiation> ranks = new ArrayList<>();
  private long now;
  private int reported;

  private void start(int size, int capacity) {
    for (int r = 0; r < size; r++) {
      ranks.add(
          new Negotiation(
              new Negotiation.Settings(r, size, capacity, STALL, rank -> "rank " + rank)));
    }
  }

  private void submit(int rank, String name, TensorSignature signature) {
    ranks.get(rank).submit(name, signature, now, now + DEADLINE);
  }

  /// Runs a round, checks that all ranks agree, and returns the outcome of each rank.
  private List<Outcome> round() {
    List<Round> rounds = ranks.stream().map(rank -> rank.begin(now, "last", SECOND)).toList();
    byte[] combined = rounds.getFirst().vector().clone();
    for (Round each : rounds) {
      assertThat(each.vector()).hasSameSizeAs(combined);
      for (int i = 0; i < combined.length; i++) {
        combined[i] = (byte) Math.min(combined[i], each.vector()[i]);
      }
    }
    boolean exchanged = Round.exchangesReports(combined);
    reported += exchanged ? 1 : 0;
    List<RoundReport> reports = exchanged ? rounds.stream().map(Round::report).toList() : List.of();
    List<Outcome> outcomes = ranks.stream().map(rank -> rank.end(combined, reports, now)).toList();
    for (Outcome outcome : outcomes) {
      assertThat(outcome.ready()).isEqualTo(outcomes.getFirst().ready());
      assertThat(outcome.lastJoined()).isEqualTo(outcomes.getFirst().lastJoined());
      assertThat(outcome.leaver()).isEqualTo(outcomes.getFirst().leaver());
    }
    return outcomes;
  }

  private static List<String> names(Outcome outcome) {
    return outcome.ready().stream().map(ReadyTensor::name).toList();
  }

  @Test
  void aNameIsSentOnceAndThenItsByte() {
    start(3, 16);
    for (int step = 0; step < 5; step++) {
      for (int rank = 0; rank < 3; rank++) {
        submit(rank, "a", ONE);
        submit(rank, "b", ONE);
      }
      assertThat(names(round().getFirst())).containsExactly("a", "b");
    }
    assertThat(reported).isEqualTo(1);
  }

  @Test
  void aTensorThatOneRankLacksIsNotReady() {
    start(2, 16);
    submit(0, "a", ONE);
    submit(0, "b", ONE);
    submit(1, "b", ONE);
    assertThat(names(round().getFirst())).containsExactly("b");
    submit(1, "a", ONE);
    assertThat(names(round().getFirst())).containsExactly("a");
    submit(0, "a", ONE);
    assertThat(round().getFirst().isEmpty()).isTrue();
    submit(1, "a", ONE);
    assertThat(names(round().getFirst())).containsExactly("a");
  }

  @Test
  void allRanksAnnounceAChangedSignatureAgain() {
    start(2, 16);
    submit(0, "a", ONE);
    submit(1, "a", ONE);
    assertThat(names(round().getFirst())).containsExactly("a");
    submit(0, "a", ONE);
    submit(1, "a", Signatures.floats(2));
    assertThat(round().getFirst().isEmpty()).isTrue();
    for (Outcome outcome : round()) {
      assertThat(outcome.failed()).hasSize(1);
      assertThat(outcome.failed().getFirst().isMismatch()).isTrue();
      assertThat(outcome.failed().getFirst().message())
          .contains("rank 0: SUM of FLOAT32[1]; rank 1: SUM of FLOAT32[2]");
    }
    submit(0, "a", Signatures.floats(2));
    submit(1, "a", Signatures.floats(2));
    assertThat(names(round().getFirst())).containsExactly("a");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 100})
  void eachTensorIsReadyOnceForRandomOrdersAndAnyCapacity(int capacity) {
    long seed = Long.getLong("weft.test.seed", 42);
    Random random = new Random(seed);
    start(4, capacity);
    int names = 12;
    int steps = 40;
    int[][] submitted = new int[4][names];
    Map<String, Integer> ready = new HashMap<>();
    int quiet = 0;
    while (quiet < 4) {
      boolean any = false;
      for (int rank = 0; rank < 4; rank++) {
        for (int name = 0; name < names; name++) {
          int done = ready.getOrDefault("t" + name, 0);
          if (submitted[rank][name] == done && done < steps && random.nextInt(4) == 0) {
            submit(rank, "t" + name, Signatures.floats(name));
            submitted[rank][name]++;
          }
          any |= submitted[rank][name] < steps;
        }
      }
      names(round().getFirst()).forEach(name -> ready.merge(name, 1, Integer::sum));
      quiet = any ? 0 : quiet + 1;
    }
    assertThat(ready.values()).as("seed %d", seed).hasSize(names).containsOnly(steps);
  }

  @Test
  void joinedRanksAreNotAwaitedUntilAllHaveJoined() {
    start(3, 16);
    for (int rank = 0; rank < 3; rank++) {
      submit(rank, "known", ONE);
    }
    var unused = round();
    ranks.get(2).join();
    submit(0, "known", ONE);
    submit(0, "new", ONE);
    submit(1, "known", ONE);
    submit(1, "new", ONE);
    // The byte of a joining rank counts from the next round on, its announcement at once.
    assertThat(names(round().getFirst())).containsExactly("new");
    assertThat(names(round().getFirst())).containsExactly("known");
    ranks.get(0).join();
    assertThat(round().getFirst().lastJoined()).isEqualTo(-1);
    assertThat(ranks.get(0).isWaiting()).isTrue();
    submit(1, "known", ONE);
    ranks.get(1).join();
    Outcome last = round().getFirst();
    assertThat(names(last)).containsExactly("known");
    assertThat(last.lastJoined()).isEqualTo(1);
    assertThat(ranks.stream().anyMatch(Negotiation::isWaiting)).isFalse();
    submit(0, "known", ONE);
    assertThat(round().getFirst().isEmpty()).isTrue();
  }

  @Test
  void aGroupIsHeldUntilItIsWhole() {
    start(2, 16);
    TensorSignature grouped = Signatures.of(DType.FLOAT32, 1, 0, "g", 2);
    for (int step = 0; step < 2; step++) {
      submit(0, "a", grouped);
      submit(0, "b", grouped);
      submit(1, "a", grouped);
      assertThat(round().getFirst().ready()).isEmpty();
      submit(1, "b", grouped);
      assertThat(names(round().getFirst())).containsExactly("a", "b");
    }
  }

  @Test
  void aRankThatNeverSubmitsIsNamedAndItsLateSubmissionFails() {
    start(3, 16);
    for (int rank = 0; rank < 3; rank++) {
      submit(rank, "a", ONE);
    }
    var unused = round();
    submit(0, "a", ONE);
    submit(1, "a", ONE);
    assertThat(round().getFirst().isEmpty()).isTrue();
    now += STALL;
    unused = round();
    unused = round();
    assertThat(ranks.get(0).stall(now))
        .contains("rank 0 waits for other ranks: 'a' for 10000 ms, missing ranks {2}")
        .contains("rank 2: its last operation was 'last', 1000 ms before its report");
    assertThat(ranks.get(2).stall(now)).isNull();
    now += DEADLINE;
    List<Outcome> late = round();
    assertThat(late.get(0).failed().getFirst().message())
        .contains("rank 2 never submitted 'a'; its last operation was 'last'");
    assertThat(late.get(0).failed().getFirst().culprit()).isEqualTo(2);
    assertThat(late.get(1).failed()).hasSize(1);
    assertThat(late.get(2).failed()).isEmpty();
    submit(0, "a", ONE);
    submit(1, "a", ONE);
    submit(2, "a", ONE);
    List<Outcome> after = round();
    assertThat(after.get(2).failed()).hasSize(1);
    assertThat(after.get(0).failed()).isEmpty();
    submit(2, "a", ONE);
    assertThat(names(round().getFirst())).containsExactly("a");
  }

  @Test
  void aFailedGroupFailsWholeAndIsForgotten() {
    start(2, 16);
    TensorSignature grouped = Signatures.of(DType.FLOAT32, 1, 0, "g", 3);
    for (int rank = 0; rank < 2; rank++) {
      submit(rank, "a", grouped);
      submit(rank, "b", Signatures.of(DType.FLOAT32, 1 + rank, 0, "g", 3));
      submit(rank, "c", grouped);
    }
    for (Outcome outcome : round()) {
      assertThat(outcome.failed().stream().map(FailedTensor::name))
          .containsExactlyInAnyOrder("a", "b", "c");
    }
    for (int rank = 0; rank < 2; rank++) {
      submit(rank, "a", grouped);
      submit(rank, "b", grouped);
      submit(rank, "c", grouped);
    }
    List<String> ready = new ArrayList<>(names(round().getFirst()));
    assertThat(ready).containsExactlyInAnyOrder("a", "b", "c");
  }

  @Test
  void aRankThatLeavesIsNamed() {
    start(3, 16);
    ranks.get(1).leave();
    assertThat(round().getFirst().leaver()).isEqualTo(1);
  }

  @Test
  void aRankThatAnnouncesATensorTwiceIsNamed() {
    start(2, 16);
    var announced = new Announcement.Submitted("a", ONE);
    var broken = new RoundReport("", 0, List.of(announced, announced));
    var unused = ranks.get(0).begin(now, "", 0);
    assertThatThrownBy(
            () -> ranks.get(0).end(new byte[] {0}, List.of(RoundReport.NONE, broken), now))
        .hasMessageContaining("rank 1 has announced tensor 'a' twice");
  }

  @Test
  void reportsAreRefreshedOnceASecondDuringAStall() {
    start(2, 16);
    submit(0, "a", ONE);
    var unused = round();
    now += STALL;
    reported = 0;
    IntStream.range(0, 40)
        .forEach(
            i -> {
              now += SECOND / 10;
              assertThat(round().getFirst().isEmpty()).isTrue();
            });
    assertThat(reported).isBetween(3, 5);
  }
}
