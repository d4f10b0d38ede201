// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.sim.Simulation;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks that sums in a fixed order have the same bits in one tensor as in parts of any length,
/// which other algorithms reduce, with ranks that are spread over the hosts evenly or not.
@Timeout(60)
class FixedOrderBitsTest {

  private static final long SEED = 4_711;
  private static final int LONG = 40_000;

  /// Lengths of the parts in elements: one element, lengths for recursive doubling, and lengths for
  /// nested exchanges.
  private static final List<Integer> PARTS = List.of(1, 3, 2_000, 2_100, 5_000, 9_001, 21_895);

  private static float value(int rank, long element) {
    var random = new SplittableRandom(SEED + 1_000_003L * rank + element);
    return (random.nextFloat() - 0.5f) * (1 << random.nextInt(20));
  }

  private static byte[] sum(Weft weft, int from, int elements, CollectiveOptions options)
      throws InterruptedException {
    try (OwnedTensor input = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements));
        OwnedTensor output = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
      for (int i = 0; i < elements; i++) {
        input.view().data().setAtIndex(JAVA_FLOAT, i, value(weft.rank(), from + (long) i));
      }
      boolean inPlace = from % 2 == 0;
      var into = inPlace ? input.view() : output.view();
      weft.communicator().allreduce(input.view(), into, ReduceOp.AVERAGE, options).await();
      return into.data().toArray(JAVA_BYTE);
    }
  }

  /// Returns each rank's results: of the whole tensor, and then of its parts in turn.
  private static List<byte[]> bits(int ranks, int hosts, boolean inRankOrder)
      throws InterruptedException {
    WeftConfig config =
        WeftConfig.builder()
            .eagerBytes(256)
            .segmentBytes(4096)
            .deadline(Duration.ofSeconds(5))
            .build();
    List<byte[]> all =
        Simulation.of(ranks)
            .hosts(hosts)
            .config(config)
            .seed(SEED)
            .run(
                weft -> {
                  CollectiveOptions whole = named("whole");
                  byte[] expected =
                      sum(weft, 0, LONG, inRankOrder ? whole.inRankOrder() : whole.inFixedOrder());
                  int from = 0;
                  for (int elements : PARTS) {
                    CollectiveOptions part = named("part " + from);
                    byte[] got =
                        sum(
                            weft,
                            from,
                            elements,
                            inRankOrder ? part.inRankOrder() : part.inFixedOrder());
                    int begin = from * Float.BYTES;
                    assertThat(got)
                        .as("rank %d, elements %d to %d", weft.rank(), from, from + elements)
                        .isEqualTo(Arrays.copyOfRange(expected, begin, begin + got.length));
                    from += elements;
                  }
                  return expected;
                })
            .values();
    assertThat(all).allSatisfy(each -> assertThat(each).isEqualTo(all.getFirst()));
    return all;
  }

  @ParameterizedTest(name = "{0} ranks on {1} hosts")
  @CsvSource({"3, 1", "5, 2", "7, 3", "6, 3", "9, 9", "13, 4"})
  void partsHaveTheSameBitsAsTheWholeTensor(int ranks, int hosts) throws InterruptedException {
    assertThat(bits(ranks, hosts, false)).hasSize(ranks);
  }

  @Test
  void hostsOfAPowerOfTwoOfRanksGiveTheBitsOfOneHost() throws InterruptedException {
    byte[] one = bits(8, 1, false).getFirst();
    for (int hosts : new int[] {2, 4, 8}) {
      assertThat(bits(8, hosts, false).getFirst()).as("%d hosts", hosts).isEqualTo(one);
    }
  }

  @Test
  void rankOrderGivesTheBitsOfOneHostOnUnevenHosts() throws InterruptedException {
    byte[] one = bits(7, 1, true).getFirst();
    assertThat(bits(7, 3, true).getFirst()).isEqualTo(one);
    assertThat(bits(7, 3, false).getFirst()).isNotEqualTo(one);
  }
}
