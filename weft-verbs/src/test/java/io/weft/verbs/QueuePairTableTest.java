// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class QueuePairTableTest {

  private final QueuePairTable<String> table = new QueuePairTable<>();

  @Test
  void aQueuePairIsFoundUntilItIsRemoved() {
    table.add(17, "rank 3");
    assertThat(table.find(17)).isEqualTo("rank 3");
    assertThat(table.find(18)).isNull();
    table.remove(18);
    table.remove(17);
    assertThat(table.find(17)).isNull();
    assertThat(table.size()).isZero();
  }

  @Test
  void theNumberZeroAndANumberThatIsPresentAreRefused() {
    table.add(5, "one");
    assertThatThrownBy(() -> table.add(5, "other")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> table.add(0, "none")).isInstanceOf(IllegalArgumentException.class);
    assertThat(table.find(0)).isNull();
    table.remove(0);
    assertThat(table.size()).isEqualTo(1);
  }

  /// Numbers of a device are consecutive or differ by a power of two.
  @Test
  void aThousandQueuePairsOfAnyStrideAreFound() {
    for (int stride : new int[] {1, 2, 64, 4096, 16384}) {
      QueuePairTable<Integer> all = new QueuePairTable<>();
      for (int i = 1; i <= 1000; i++) {
        all.add(i * stride, i);
      }
      for (int i = 1; i <= 1000; i++) {
        assertThat(all.find(i * stride)).isEqualTo(i);
      }
      assertThat(all.size()).isEqualTo(1000);
    }
  }

  @Test
  void randomChangesLeaveTheSameContentsAsAMap() {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Map<Integer, String> model = new HashMap<>();
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      numbers.add(1 + random.nextInt((1 << 24) - 1));
    }
    for (int step = 0; step < 100_000; step++) {
      int number = numbers.get(random.nextInt(numbers.size()));
      if (model.remove(number) != null) {
        table.remove(number);
      } else {
        model.put(number, "step " + step);
        table.add(number, "step " + step);
      }
      int other = numbers.get(random.nextInt(numbers.size()));
      assertThat(table.find(other))
          .as("step %d of seed %d", step, seed)
          .isEqualTo(model.get(other));
      assertThat(table.size()).isEqualTo(model.size());
    }
    numbers.forEach(number -> assertThat(table.find(number)).isEqualTo(model.get(number)));
  }
}
