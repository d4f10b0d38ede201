// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.Plan.Receiving;
import io.weft.collective.Plan.Sending;
import io.weft.collective.schedule.BinomialTree;
import io.weft.collective.schedule.Direct;
import io.weft.collective.schedule.HalvingDoubling;
import io.weft.collective.schedule.RecursiveDoubling;
import io.weft.collective.schedule.Ring;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlanTest {

  @Test
  void theRingOfTwoReducesOneHalfAndCopiesTheOther() {
    Plan plan = Plan.of(Ring.allreduce(), 0, 2);
    assertThat(plan.sends())
        .containsExactly(new Sending(1, 0, -1, true), new Sending(1, 1, 0, false));
    assertThat(plan.receives()).hasSize(2);
    Receiving reduce = plan.receives().get(0);
    assertThat(reduce.chunk()).isEqualTo(1);
    assertThat(reduce.reduce()).isTrue();
    assertThat(reduce.last()).isTrue();
    assertThat(plan.receives().get(1).reduce()).isFalse();
  }

  @Test
  void recursiveDoublingMustSendBeforeItCombines() {
    Plan plan = Plan.of(new RecursiveDoubling(), 0, 4);
    assertThat(plan.receives().get(0).after()).containsExactly(0);
    assertThat(plan.receives().get(1).after()).containsExactly(0, 1);
    assertThat(plan.sends().get(1).needs()).isZero();
  }

  @Test
  void everyChunkIsAveragedOnceOnItsWay() {
    for (var algorithm :
        List.of(
            Ring.allreduce(),
            Direct.allreduce(),
            new RecursiveDoubling(),
            new HalvingDoubling(),
            BinomialTree.allreduce())) {
      for (int n = 2; n <= 33; n++) {
        int[] divided = new int[algorithm.chunks(n)];
        int[] copied = new int[algorithm.chunks(n)];
        for (int r = 0; r < n; r++) {
          Plan plan = Plan.of(algorithm, r, n);
          boolean[] mine = new boolean[divided.length];
          for (Receiving receiving : plan.receives()) {
            mine[receiving.chunk()] |= receiving.last();
          }
          for (int c = 0; c < divided.length; c++) {
            if (mine[c]) {
              divided[c]++;
            } else {
              copied[c]++;
            }
          }
        }
        for (int c = 0; c < divided.length; c++) {
          assertThat(divided[c]).as("%s, %d ranks, chunk %d", algorithm, n, c).isPositive();
          assertThat(divided[c] + copied[c]).isEqualTo(n);
        }
      }
    }
  }

  @Test
  void onlyTheOwnerAveragesWhatIsScattered() {
    for (var algorithm : List.of(Ring.reduceScatter(), Direct.reduceScatter())) {
      for (int n = 2; n <= 33; n++) {
        for (int r = 0; r < n; r++) {
          int rank = r;
          assertThat(Plan.of(algorithm, r, n).receives())
              .filteredOn(Receiving::last)
              .as("%s, rank %d of %d", algorithm, r, n)
              .singleElement()
              .matches(receiving -> receiving.chunk() == rank);
        }
      }
    }
  }

  @Test
  void streamsKeepTheOrderOfTheSchedule() {
    Plan plan = Plan.of(Ring.allreduce(), 1, 4);
    assertThat(plan.outgoing()).hasSize(1);
    assertThat(plan.outgoing().getFirst().peer()).isEqualTo(2);
    assertThat(plan.outgoing().getFirst().steps()).containsExactly(0, 1, 2, 3, 4, 5);
    assertThat(plan.incoming().getFirst().peer()).isZero();
  }
}
