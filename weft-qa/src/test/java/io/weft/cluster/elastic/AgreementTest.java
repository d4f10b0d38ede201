// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.elastic.Agreement.Stand;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class AgreementTest {

  private static final int RANDOM_RUNS = Boolean.getBoolean("weft.test.long") ? 3000 : 1000;

  private static AgreementSimulation calm(int size, ShrinkQuorum quorum) {
    return new AgreementSimulation(size, 2, quorum, 1);
  }

  @Test
  void survivorsOfACrashEnterTheNextEpoch() {
    AgreementSimulation job = calm(4, ShrinkQuorum.MAJORITY);
    job.crash(2);
    job.settle();
    for (int rank : List.of(0, 1, 3)) {
      assertThat(job.rank(rank).epoch()).isEqualTo(1);
      assertThat(job.rank(rank).members().ranks()).containsExactly(0, 1, 3);
    }
  }

  @Test
  void oneRankThatShrinksMakesAllOthersShrink() {
    AgreementSimulation job = calm(3, ShrinkQuorum.MAJORITY);
    job.enter(1);
    job.settle();
    for (int rank = 0; rank < 3; rank++) {
      assertThat(job.rank(rank).epoch()).isEqualTo(1);
      assertThat(job.rank(rank).members().ranks()).containsExactly(0, 1, 2);
    }
  }

  @Test
  void ranksMayBeLostInTurn() {
    AgreementSimulation job = calm(4, ShrinkQuorum.MAJORITY);
    for (int lost : List.of(3, 0, 2)) {
      job.crash(lost);
      job.settle();
    }
    assertThat(job.rank(1).epoch()).isEqualTo(3);
    assertThat(job.rank(1).members().ranks()).containsExactly(1);
  }

  @Test
  void halfTheRanksContinueOnlyWithTheLowestRank() {
    AgreementSimulation low = calm(2, ShrinkQuorum.MAJORITY);
    low.crash(1);
    low.settle();
    assertThat(low.rank(0).members().ranks()).containsExactly(0);
    AgreementSimulation high = calm(2, ShrinkQuorum.MAJORITY);
    high.crash(0);
    high.settle();
    assertThat(high.rank(1).stand()).isEqualTo(Stand.TOO_FEW);
    AgreementSimulation any = calm(2, ShrinkQuorum.ANY);
    any.crash(0);
    any.settle();
    assertThat(any.rank(1).members().ranks()).containsExactly(1);
  }

  @Test
  void ranksThatLeftInOrderDoNotCountForTheQuorum() {
    AgreementSimulation job = calm(4, ShrinkQuorum.MAJORITY);
    job.leave(0);
    job.leave(1);
    job.crash(3);
    job.settle();
    assertThat(job.rank(2).members().ranks()).containsExactly(2);
  }

  @Test
  void aRankThatReturnsLearnsThatItIsExcluded() {
    AgreementSimulation job = calm(3, ShrinkQuorum.MAJORITY);
    job.rank(0).onGone(2, false);
    job.enter(0);
    job.enter(1);
    job.deliverAll(0, 1);
    job.rank(2).onStatement(1, Objects.requireNonNull(job.rank(1).said()));
    assertThat(job.rank(2).stand()).isEqualTo(Stand.EXCLUDED);
    assertThat(job.rank(2).excludedBy()).isEqualTo(1);
  }

  @Test
  void ranksThatDidNotEnterAreMissing() {
    AgreementSimulation job = calm(4, ShrinkQuorum.MAJORITY);
    job.enter(0);
    job.enter(3);
    job.deliverAll(0, 3);
    job.deliverAll(3, 0);
    assertThat(job.rank(0).missing()).containsExactly(1, 2);
    job.rank(0).withdraw();
    assertThat(job.rank(0).stand()).isEqualTo(Stand.IDLE);
    job.enter(0);
    job.settle();
    assertThat(job.rank(2).members().ranks()).containsExactly(0, 1, 2, 3);
  }

  /// Messages of different ranks overtake each other, and ranks crash while they send.
  @Test
  void crashesAtAnyPointLeaveAllSurvivorsInOneEpoch() {
    Long replay = Long.getLong("weft.test.seed");
    long first = replay == null ? 0 : replay;
    for (long seed = first; seed < (replay == null ? RANDOM_RUNS : first + 1); seed++) {
      AgreementSimulation job =
          new AgreementSimulation(3 + (int) (seed % 6), 0, ShrinkQuorum.ANY, seed);
      job.play(AgreementSimulation.Trouble.CRASHES);
      job.assertAgreement();
      for (int rank : job.aliveRanks()) {
        assertThat(job.rank(rank).members().ranks())
            .as("-Dweft.test.seed=%d: rank %d", seed, rank)
            .isEqualTo(job.aliveRanks());
      }
    }
  }

  /// As above, and in addition ranks suspect live ranks, in one direction or in both. The job may
  /// be partitioned, but only one part continues.
  @Test
  void suspectedRanksNeverSplitTheJobInTwo() {
    Long replay = Long.getLong("weft.test.seed");
    long first = replay == null ? 0 : replay;
    for (long seed = first; seed < (replay == null ? RANDOM_RUNS : first + 1); seed++) {
      AgreementSimulation job =
          new AgreementSimulation(3 + (int) (seed % 6), 0, ShrinkQuorum.MAJORITY, seed);
      job.play(AgreementSimulation.Trouble.SUSPICIONS);
      job.assertAgreement();
    }
  }

  @Test
  void aRankThatJoinsEntersTheNextEpochWithAllOthers() {
    AgreementSimulation job = calm(3, ShrinkQuorum.MAJORITY);
    int joiner = job.join();
    job.settle();
    for (int rank = 0; rank <= joiner; rank++) {
      assertThat(job.rank(rank).epoch()).isEqualTo(1);
      assertThat(job.rank(rank).members().ranks()).containsExactly(0, 1, 2, 3);
    }
    job.crash(1);
    int another = job.join();
    job.settle();
    assertThat(job.rank(another).members().ranks()).containsExactly(0, 2, 3, 4);
    assertThat(job.rank(0).members().ranks()).containsExactly(0, 2, 3, 4);
  }

  @Test
  void aRankThatIsNotAdmittedTakesNoPartInTheAgreement() {
    Agreement joiner = Agreement.ofJoiner(3, ShrinkQuorum.ANY);
    joiner.enter();
    assertThat(joiner.said()).isNull();
    assertThat(joiner.nextPending(0)).isNegative();
    Agreement member = Agreement.ofMember(0, 3, ShrinkQuorum.ANY);
    member.enter();
    joiner.onStatement(0, Objects.requireNonNull(member.said()));
    assertThat(joiner.said()).as("it was not named").isNull();
    member.admit(3);
    joiner.onStatement(0, Objects.requireNonNull(member.said()));
    assertThat(joiner.said()).isNotNull();
    assertThat(joiner.epoch()).isNegative();
  }

  @Test
  void aCommittedRankAdmitsNoRankBeforeTheNextEpoch() {
    AgreementSimulation job = calm(3, ShrinkQuorum.MAJORITY);
    for (int rank = 0; rank < 3; rank++) {
      job.enter(rank);
    }
    for (int rank = 1; rank < 3; rank++) {
      job.deliverAll(rank, 0);
    }
    Agreement committed = job.rank(0);
    assertThat(Objects.requireNonNull(committed.said()).stage()).isEqualTo(Statement.Stage.COMMIT);
    committed.admit(3);
    assertThat(committed.alive()).doesNotContain(3);
    assertThat(committed.wantsMore()).isTrue();
    int joiner = job.join();
    job.settle();
    assertThat(job.rank(joiner).members().ranks()).containsExactly(0, 1, 2, 3);
    assertThat(job.rank(0).wantsMore()).isFalse();
  }

  /// A member that has committed to an epoch with three joiners does not continue with half of the
  /// other ranks, because the other half may have entered that epoch.
  @Test
  void joinersOfACommittedEpochCountForTheQuorum() {
    List<Agreement> all = new ArrayList<>();
    for (int rank = 0; rank < 6; rank++) {
      all.add(
          rank < 3
              ? Agreement.ofMember(rank, 3, ShrinkQuorum.MAJORITY)
              : Agreement.ofJoiner(rank, ShrinkQuorum.MAJORITY));
    }
    List.of(3, 4, 5).forEach(all.getFirst()::admit);
    all.getFirst().enter();
    tell(all, List.of(0), List.of(1, 2, 3, 4, 5));
    all.get(1).enter();
    all.get(2).enter();
    List<Integer> everybody = List.of(0, 1, 2, 3, 4, 5);
    tell(all, everybody, everybody);
    tell(all, everybody, List.of(2, 3, 4, 5));
    for (int rank : List.of(2, 3, 4, 5)) {
      assertThat(all.get(rank).members().ranks()).containsExactlyElementsOf(everybody);
      all.get(rank).onGone(0, false);
      all.get(rank).onGone(1, false);
      all.get(rank).enter();
    }
    for (int rank : List.of(0, 1)) {
      assertThat(all.get(rank).epoch()).isZero();
      List.of(2, 3, 4, 5).forEach(peer -> all.get(rank).onGone(peer, false));
    }
    for (List<Integer> part : List.of(List.of(0, 1), List.of(2, 3, 4, 5))) {
      tell(all, part, part);
      tell(all, part, part);
    }
    assertThat(all.get(0).stand()).isEqualTo(Stand.TOO_FEW);
    assertThat(all.get(1).stand()).isEqualTo(Stand.TOO_FEW);
    assertThat(all.get(1).lost()).containsExactly(2, 3, 4, 5);
    for (int rank : List.of(2, 3, 4, 5)) {
      assertThat(all.get(rank).members().ranks()).containsExactly(2, 3, 4, 5);
    }
  }

  /// Delivers the current statements of the ranks `from` to the ranks `to`.
  private static void tell(List<Agreement> all, List<Integer> from, List<Integer> to) {
    List<Statement> said = new ArrayList<>();
    for (int rank : from) {
      said.add(Objects.requireNonNull(all.get(rank).said()));
    }
    for (int peer : to) {
      for (int i = 0; i < from.size(); i++) {
        if (from.get(i) != peer) {
          all.get(peer).onStatement(from.get(i), said.get(i));
        }
      }
    }
  }

  /// Checks each victim at each step of the agreement.
  @Test
  void aLossAtAnyStepLeavesAllRanksWithTheJoinerOrNone() {
    for (int victim = 0; victim < 5; victim++) {
      for (int step = 0; step < 80; step++) {
        for (ShrinkQuorum quorum : ShrinkQuorum.values()) {
          AgreementSimulation job = new AgreementSimulation(4, 1, quorum, 100L * step + victim);
          assertThat(job.join()).isEqualTo(4);
          job.turns(step);
          job.crash(victim);
          job.settle();
          job.assertAgreement();
          job.assertAllAreIn();
        }
      }
    }
  }

  @Test
  void crashesWhileRanksJoinLeaveAllRanksInOneEpoch() {
    playAll(AgreementSimulation.Trouble.CRASHES);
  }

  @Test
  void aJobThatGrowsNeverSplitsInTwo() {
    playAll(AgreementSimulation.Trouble.SUSPICIONS);
  }

  private static void playAll(AgreementSimulation.Trouble trouble) {
    Long replay = Long.getLong("weft.test.seed");
    long first = replay == null ? 0 : replay;
    int joined = 0;
    for (long seed = first; seed < (replay == null ? RANDOM_RUNS : first + 1); seed++) {
      joined += AgreementSimulation.play(seed, trouble).joined();
    }
    assertThat(joined).isPositive();
  }
}
