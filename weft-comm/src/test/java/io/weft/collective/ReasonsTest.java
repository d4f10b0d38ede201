// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class ReasonsTest {

  private static List<Integer> hosts(int ranks, int number) {
    return IntStream.range(0, ranks).mapToObj(r -> r * number / ranks).toList();
  }

  @Test
  void everyChoiceHasAReason() {
    List<String> collectives = Stream.of(Kind.values()).map(Kind::words).toList();
    for (String collective : collectives) {
      for (int ranks : new int[] {1, 2, 3, 8, 9, 64}) {
        for (int hosts : new int[] {1, 2, 3, 9}) {
          for (long bytes = 4; bytes <= 256 << 20; bytes *= 4) {
            for (boolean shares : new boolean[] {false, true}) {
              Algorithms.Choice choice =
                  Algorithms.chosen(collective, bytes, hosts(ranks, hosts), shares);
              assertThat(choice.reason()).as("%s of %d", collective, bytes).isNotEmpty();
            }
          }
        }
      }
    }
  }

  @Test
  void whatIsSaidIsWhatIsTaken() {
    for (long bytes : new long[] {4, 8192, 8196, 1 << 20}) {
      for (int ranks : new int[] {2, 4, 16}) {
        List<Integer> here = hosts(ranks, 1);
        assertThat(Algorithms.chosen("allreduce", bytes, here, false).algorithm())
            .isEqualTo(Algorithms.forAllreduce(bytes, here));
      }
    }
    for (String collective : List.of("reducescatter", "broadcast", "allgather", "alltoall")) {
      assertThat(Algorithms.chosen(collective, 1 << 20, hosts(2, 1), true).algorithm())
          .as(collective)
          .isEqualTo("shared");
    }
    assertThat(Algorithms.chosen("broadcast", 8192, hosts(2, 1), true).algorithm())
        .isEqualTo("binomial-tree");
    assertThat(Algorithms.chosen("barrier", 0, hosts(2, 1), true).algorithm())
        .isEqualTo("recursive-doubling");
    assertThat(Algorithms.chosen("allreduce", 8192, hosts(2, 1), true).algorithm())
        .isEqualTo("recursive-doubling");
    assertThat(Algorithms.chosen("allreduce", 8196, hosts(2, 1), true).algorithm())
        .isEqualTo("shared");
  }

  @Test
  void anUnknownCollectiveIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Algorithms.chosen("scan", 4, hosts(2, 1), false))
        .withMessageContaining("scan");
  }
}
