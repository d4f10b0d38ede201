// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.collective.schedule.Step.ReceiveReduce;
import io.weft.collective.schedule.Step.Send;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class VerifierTest {

  record Case(Algorithm algorithm, Goal goal) {}

  static Stream<Case> algorithms() {
    return Stream.of(
        new Case(Ring.allreduce(), Goal.ALLREDUCE),
        new Case(new SlicedDoubling(), Goal.ALLREDUCE),
        new Case(BinomialTree.allreduce(), Goal.ALLREDUCE),
        new Case(Ring.reduceScatter(), Goal.REDUCE_SCATTER),
        new Case(Direct.reduceScatter(), Goal.REDUCE_SCATTER),
        new Case(Ring.allgather(), Goal.ALLGATHER),
        new Case(Direct.allgather(), Goal.ALLGATHER),
        new Case(BinomialTree.broadcast(), Goal.BROADCAST),
        new Case(Direct.alltoall(), Goal.ALLTOALL));
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void everyAlgorithmIsCorrectFor1To64Ranks(Case c) {
    for (int n = 1; n <= 64; n++) {
      Verifier.prove(c.algorithm(), c.goal(), n);
    }
  }

  @ParameterizedTest(name = "{0} ranks")
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 24, 31, 64})
  void theHierarchicalRingIsCorrectForAnyPlacementOfRanks(int size) {
    Random random = new Random(size);
    for (int hosts = 1; hosts <= size; hosts++) {
      int number = hosts;
      int perHost = Math.ceilDiv(size, number);
      proveOn(IntStream.range(0, size).map(r -> r / perHost));
      proveOn(IntStream.range(0, size).map(r -> r % number));
      proveOn(IntStream.range(0, size).map(_ -> random.nextInt(number)));
    }
  }

  private static void proveOn(IntStream hostOf) {
    List<Integer> hosts = hostOf.boxed().toList();
    Verifier.prove(Hierarchical.ring(hosts), Goal.ALLREDUCE, hosts.size());
  }

  @Test
  void aRingAddsEachPartInADifferentOrder() {
    assertThat(Verifier.orders(Ring.allreduce(), 4)).doesNotHaveDuplicates();
  }

  @Test
  void aRootedBroadcastRotatesTheTree() {
    Algorithm rotated = new Rooted(BinomialTree.broadcast(), 3);
    assertThatThrownBy(() -> Verifier.prove(rotated, Goal.BROADCAST, 5))
        .hasMessageContaining("expected [1, 0, 0, 0, 0]");
  }

  @Test
  void aMissingContributionIsNamed() {
    Algorithm lazy = new Fixed(List.of());
    assertThatThrownBy(() -> Verifier.prove(lazy, Goal.ALLREDUCE, 2))
        .hasMessageContaining("rank 0 ends with contributions [1, 0] in chunk 0, expected [1, 1]");
  }

  @Test
  void anUnmatchedSendIsNamed() {
    Algorithm talker = new Fixed(List.of(List.of(new Send(0, 0))));
    assertThatThrownBy(() -> Verifier.prove(talker, Goal.ALLREDUCE, 1))
        .hasMessageContaining("never receives");
  }

  @Test
  void anUnmatchedReceiveIsNamed() {
    Algorithm listener = new Fixed(List.of(List.of(new ReceiveReduce(0, 0))));
    assertThatThrownBy(() -> Verifier.prove(listener, Goal.ALLREDUCE, 1))
        .hasMessageContaining("waits for ever");
  }

  @Test
  void aRunOfTheWrongLengthIsNamed() {
    Algorithm lopsided = new Fixed(List.of(List.of(new Send(0, 0), new ReceiveReduce(0, 2, 0))));
    assertThatThrownBy(() -> Verifier.prove(lopsided, Goal.ALLREDUCE, 1))
        .hasMessageContaining("2 in all, of 0, gets 0, 1 in all");
  }

  private record Fixed(List<List<Step>> rounds) implements Algorithm {
    @Override
    public String name() {
      return "fixed";
    }

    @Override
    public int chunks(int size) {
      return 1;
    }

    @Override
    public List<List<Step>> schedule(int rank, int size) {
      return rounds;
    }
  }
}
