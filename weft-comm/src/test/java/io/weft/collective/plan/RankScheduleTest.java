// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.collective.plan.RankSchedule.Receiving;
import io.weft.collective.plan.RankSchedule.Sending;
import io.weft.collective.schedule.Algorithm;
import io.weft.collective.schedule.BinomialTree;
import io.weft.collective.schedule.Direct;
import io.weft.collective.schedule.NestedExchanges;
import io.weft.collective.schedule.RecursiveDoubling;
import io.weft.collective.schedule.Ring;
import io.weft.collective.schedule.Step;
import io.weft.collective.schedule.Step.ReceiveCopy;
import io.weft.collective.schedule.Step.ReceiveReduce;
import io.weft.collective.schedule.Step.Send;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RankScheduleTest {

  @Test
  void theRingOfTwoReducesOneHalfAndCopiesTheOther() {
    RankSchedule plan = RankSchedule.of(Ring.allreduce(), 0, 2);
    assertThat(plan.sends()).hasSize(2);
    Sending first = plan.sends().get(0);
    assertThat(first.chunk()).isZero();
    assertThat(first.staged()).isTrue();
    assertThat(first.received()).isFalse();
    Sending second = plan.sends().get(1);
    assertThat(second.chunk()).isEqualTo(1);
    assertThat(second.staged()).isFalse();
    assertThat(second.needs()).containsExactly(0);
    assertThat(plan.receives()).hasSize(2);
    Receiving reduce = plan.receives().get(0);
    assertThat(reduce.chunk()).isEqualTo(1);
    assertThat(reduce.reduce()).isTrue();
    assertThat(reduce.last()).isTrue();
    assertThat(plan.receives().get(1).reduce()).isFalse();
  }

  @Test
  void twoRanksKeepStepIfBothSendInARound() {
    RankSchedule ring = RankSchedule.of(Ring.allreduce(), 1, 2);
    assertThat(ring.sends().get(0).beside()).isZero();
    assertThat(ring.sends().get(1).beside()).isEqualTo(1);
    assertThat(ring.keepsStep()).isTrue();
    assertThat(
            RankSchedule.of(RecursiveDoubling.onHosts(List.of(0, 0)), 0, 2)
                .sends()
                .getFirst()
                .beside())
        .isZero();
    assertThat(RankSchedule.of(RecursiveDoubling.onHosts(List.of(0, 0)), 0, 2).keepsStep())
        .isTrue();
    assertThat(RankSchedule.of(BinomialTree.allreduce(), 0, 2).sends())
        .noneMatch(Sending::hasBeside);
    assertThat(RankSchedule.of(BinomialTree.allreduce(), 0, 2).keepsStep()).isFalse();
    assertThat(RankSchedule.of(Ring.allreduce(), 0, 3).sends()).noneMatch(Sending::hasBeside);
    assertThat(RankSchedule.of(Ring.allreduce(), 0, 3).keepsStep()).isFalse();
  }

  @Test
  void recursiveDoublingMustSendBeforeItCombines() {
    RankSchedule plan = RankSchedule.of(RecursiveDoubling.onHosts(List.of(0, 0, 0, 0)), 0, 4);
    assertThat(plan.receives().get(0).after()).containsExactly(0);
    assertThat(plan.receives().get(1).after()).containsExactly(0, 1);
    assertThat(plan.sends().get(1).needs()).containsExactly(0);
  }

  @Test
  void everyChunkIsAveragedOnceOnItsWay() {
    for (int n = 2; n <= 33; n++) {
      List<Integer> hosts = IntStream.range(0, n).map(r -> r / 3).boxed().toList();
      for (var algorithm :
          List.of(
              Ring.allreduce(),
              NestedExchanges.direct(hosts),
              NestedExchanges.halving(hosts),
              RecursiveDoubling.onHosts(hosts),
              BinomialTree.allreduce())) {
        int[] divided = new int[algorithm.chunks(n)];
        int[] copied = new int[algorithm.chunks(n)];
        for (int r = 0; r < n; r++) {
          RankSchedule plan = RankSchedule.of(algorithm, r, n);
          boolean[] mine = new boolean[divided.length];
          for (Receiving receiving : plan.receives()) {
            for (int c = 0; c < receiving.chunks(); c++) {
              mine[receiving.chunk() + c] |= receiving.last();
            }
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
  void onlyTheOwnerAveragesAScatteredChunk() {
    for (var algorithm : List.of(Ring.reduceScatter(), Direct.reduceScatter())) {
      for (int n = 2; n <= 33; n++) {
        for (int r = 0; r < n; r++) {
          int rank = r;
          assertThat(RankSchedule.of(algorithm, r, n).receives())
              .filteredOn(Receiving::last)
              .as("%s, rank %d of %d", algorithm, r, n)
              .singleElement()
              .matches(receiving -> receiving.chunk() == rank);
        }
      }
    }
  }

  @Test
  void chunksOfOneTreeShareAHistoryAndCompleteWithTheLastReceive() {
    RankSchedule plan =
        RankSchedule.of(NestedExchanges.direct(IntStream.range(0, 16).boxed().toList()), 5, 16);
    assertThat(plan.sends())
        .extracting(Sending::chunks)
        .containsExactly(2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 3, 3, 3, 1, 1, 1);
    assertThat(plan.receives()).extracting(Receiving::peer).startsWith(4, 7, 6, 4, 7, 6, 1, 13, 9);
    assertThat(plan.trees()).hasSize(3);
    assertThat(plan.trees()).extracting(RankSchedule.Tree::own).containsOnly(1);
    assertThat(plan.trees().get(0).receives()).as("ranks 4, 6, 7").containsExactly(0, 2, 1);
    assertThat(plan.trees().get(1).receives()).as("ranks 4, 6, 7").containsExactly(3, 5, 4);
    assertThat(plan.trees().get(2).receives()).as("ranks 1, 9, 13").containsExactly(6, 8, 7);
    assertThat(plan.receives().subList(6, 9))
        .allSatisfy(receiving -> assertThat(receiving.needs()).containsExactly(5));
    assertThat(IntStream.range(0, plan.receives().size()))
        .filteredOn(i -> plan.receives().get(i).last())
        .containsExactly(8);
  }

  @Test
  void chunksOfDifferentHistoriesAreNotJoined() {
    assertThatThrownBy(() -> RankSchedule.of(new Joiner(), 0, 2))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("chunks 0 to 1");
  }

  /// Sends a chunk that it has received and one that it has not received together.
  private record Joiner() implements Algorithm {
    @Override
    public String name() {
      return "joiner";
    }

    @Override
    public int chunks(int size) {
      return 2;
    }

    @Override
    public List<List<Step>> schedule(int rank, int size) {
      return rank == 0
          ? List.of(List.of(new ReceiveReduce(0, 1)), List.of(new Send(0, 2, 1)))
          : List.of(List.of(new Send(0, 0)), List.of(new ReceiveCopy(0, 2, 0)));
    }
  }

  /// Rank 0 may write the sum into the memory of rank 1 before rank 1 has combined its data.
  @Test
  void aCombinedChunkMayNotBeReceivedBeforeItIsSent() {
    assertThatThrownBy(() -> RankSchedule.of(new Hasty(), 1, 2))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("chunk 0 may be written before its received data is combined");
  }

  @Test
  void everyAlgorithmSendsACombinedChunkBeforeItReceivesIt() {
    Random random = new Random(7);
    for (int layout = 0; layout < 150; layout++) {
      int size = 1 + random.nextInt(17);
      int most = 1 + random.nextInt(6);
      List<Integer> hosts = random.ints(size, 0, most).boxed().toList();
      for (CollectiveKind kind : CollectiveKind.values()) {
        for (Algorithm algorithm : AlgorithmRegistry.of(kind, hosts)) {
          for (int rank = 0; rank < size; rank++) {
            int self = rank;
            assertThatCode(() -> RankSchedule.of(algorithm, self, size))
                .as(kind + " " + algorithm.name() + " over " + hosts)
                .doesNotThrowAnyException();
          }
        }
      }
    }
  }

  private record Hasty() implements Algorithm {
    @Override
    public String name() {
      return "hasty";
    }

    @Override
    public int chunks(int size) {
      return 1;
    }

    @Override
    public List<List<Step>> schedule(int rank, int size) {
      List<Step> exchange =
          List.of(new Step.Send(0, 1 - rank), new Step.ReceiveReduce(0, 1 - rank));
      return List.of(
          exchange, List.of(rank == 0 ? new Step.Send(0, 1) : new Step.ReceiveCopy(0, 0)));
    }
  }

  @Test
  void streamsKeepTheOrderOfTheSchedule() {
    RankSchedule plan = RankSchedule.of(Ring.allreduce(), 1, 4);
    assertThat(plan.outgoing()).hasSize(1);
    assertThat(plan.outgoing().getFirst().peer()).isEqualTo(2);
    assertThat(plan.outgoing().getFirst().steps()).containsExactly(0, 1, 2, 3, 4, 5);
    assertThat(plan.incoming().getFirst().peer()).isZero();
  }
}
