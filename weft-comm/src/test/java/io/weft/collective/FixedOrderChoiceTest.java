// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.choice.AlgorithmTable;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FixedOrderChoiceTest {

  private static final AlgorithmTable SHIPPED = Algorithms.table(Optional.empty());
  private static final long LONG = 64 << 20;

  private static String chosen(long bytes, List<Integer> hosts, CollectiveOptions options) {
    return Algorithms.forAllreduce(SHIPPED, bytes, hosts, false, options).algorithm();
  }

  private static List<Integer> even(int ranks, int each) {
    return IntStream.range(0, ranks).map(rank -> rank / each).boxed().toList();
  }

  @ParameterizedTest
  @CsvSource({
    "128, 4, 67108864, nested-direct",
    "32, 4, 262144, nested-halving",
    "32, 4, 1024, recursive-doubling",
    "16, 1, 67108864, nested-direct",
    "16, 16, 67108864, nested-direct",
    "8, 8, 262144, nested-direct",
    "2, 1, 67108864, ring",
  })
  void aFixedOrderChoosesTheTablesAlgorithm(int ranks, int each, long bytes, String algorithm) {
    assertThat(chosen(bytes, even(ranks, each), named("g").inFixedOrder())).isEqualTo(algorithm);
  }

  @Test
  void rankOrderEqualsHostOrderForPowerOfTwoBlocksOfRanks() {
    CollectiveOptions inRankOrder = named("g").inRankOrder();
    for (List<Integer> hosts :
        List.of(even(16, 4), even(16, 1), even(7, 7), even(12, 4), even(6, 2), List.of(1, 0))) {
      assertThat(chosen(LONG, hosts, inRankOrder))
          .as("%s", hosts)
          .isEqualTo(chosen(LONG, hosts, named("g").inFixedOrder()));
    }
    for (List<Integer> hosts :
        List.of(
            List.of(0, 0, 0, 1),
            List.of(0, 1, 0, 1),
            List.of(1, 1, 0, 0),
            List.of(0, 0, 1, 0, 2, 2),
            even(6, 3),
            even(10, 4))) {
      assertThat(chosen(LONG, hosts, inRankOrder))
          .as("%s", hosts)
          .isEqualTo("rank-order nested-direct");
      assertThat(chosen(64, hosts, inRankOrder))
          .as("%s", hosts)
          .isEqualTo("rank-order recursive-doubling");
    }
  }
}
