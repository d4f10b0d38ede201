// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.elastic.Agreement.Stand;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class AgreementTest {

  private static final int RANDOM_RUNS = Boolean.getBoolean("weft.test.long") ? 3000 : 1000;

  private static AgreementSimulation calm(int size, ShrinkQuorum quorum) {
    return new AgreementSimulation(size, quorum, 1);
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
  void oneRankThatWantsToShrinkBringsAllOthers() {
    AgreementSimulation job = calm(3, ShrinkQuorum.MAJORITY);
    job.enter(1);
    job.settle();
    for (int rank = 0; rank < 3; rank++) {
      assertThat(job.rank(rank).epoch()).isEqualTo(1);
      assertThat(job.rank(rank).members().ranks()).containsExactly(0, 1, 2);
    }
  }

  @Test
  void oneRankAfterTheOtherMayBeLost() {
    AgreementSimulation job = calm(4, ShrinkQuorum.MAJORITY);
    for (int lost : List.of(3, 0, 2)) {
      job.crash(lost);
      job.settle();
    }
    assertThat(job.rank(1).epoch()).isEqualTo(3);
    assertThat(job.rank(1).members().ranks()).containsExactly(1);
  }

  @Test
  void halfTheRanksGoOnOnlyWithTheLowest() {
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
  void whoLeftInOrderIsNotCounted() {
    AgreementSimulation job = calm(4, ShrinkQuorum.MAJORITY);
    job.leave(0);
    job.leave(1);
    job.crash(3);
    job.settle();
    assertThat(job.rank(2).members().ranks()).containsExactly(2);
  }

  @Test
  void whoComesBackIsToldThatItIsOut() {
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
  void missingAreThoseWhoDidNotCome() {
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

  /// Messages of different ranks overtake each other, ranks crash while they speak.
  @Test
  void crashesAtAnyPointLeaveOneEpoch() {
    Long replay = Long.getLong("weft.test.seed");
    long first = replay == null ? 0 : replay;
    for (long seed = first; seed < (replay == null ? RANDOM_RUNS : first + 1); seed++) {
      AgreementSimulation job =
          new AgreementSimulation(3 + (int) (seed % 6), ShrinkQuorum.ANY, seed);
      job.play(AgreementSimulation.Trouble.CRASHES);
      job.assertAgreement();
      for (int rank : job.aliveRanks()) {
        assertThat(job.rank(rank).members().ranks())
            .as("-Dweft.test.seed=%d: rank %d", seed, rank)
            .isEqualTo(job.aliveRanks());
      }
    }
  }

  /// As before, and ranks that live are taken for lost, in one direction or both: the job may fall
  /// apart, but only one part goes on.
  @Test
  void ranksThatAreTakenForLostNeverMakeTwoJobsOfOne() {
    Long replay = Long.getLong("weft.test.seed");
    long first = replay == null ? 0 : replay;
    for (long seed = first; seed < (replay == null ? RANDOM_RUNS : first + 1); seed++) {
      AgreementSimulation job =
          new AgreementSimulation(3 + (int) (seed % 6), ShrinkQuorum.MAJORITY, seed);
      job.play(AgreementSimulation.Trouble.SUSPICIONS);
      job.assertAgreement();
    }
  }
}
