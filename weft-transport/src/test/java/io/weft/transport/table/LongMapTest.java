// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LongMapTest {

  @Test
  void theMapBehavesLikeAHashMap() {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    LongMap<String> map = new LongMap<>();
    Map<Long, String> model = new HashMap<>();
    for (int i = 0; i < 100_000; i++) {
      long key = random.nextInt(500) * 0x100000000L; // collides in the lower bits
      if (random.nextInt(5) < 3) {
        map.put(key, "v" + i);
        model.put(key, "v" + i);
      } else {
        assertThat(map.remove(key)).as("seed %d", seed).isEqualTo(model.remove(key));
      }
      assertThat(map.get(key)).as("seed %d", seed).isEqualTo(model.get(key));
      assertThat(map.size()).as("seed %d", seed).isEqualTo(model.size());
    }
    Set<String> seen = new HashSet<>();
    map.forEach(seen::add);
    assertThat(seen).isEqualTo(new HashSet<>(model.values()));
  }

  /// The numbers of queue pairs are consecutive or differ by a power of two.
  @Test
  void aThousandKeysOfAnyStrideAreFound() {
    for (int stride : new int[] {1, 2, 64, 4096, 16384}) {
      LongMap<Integer> map = new LongMap<>();
      for (int i = 0; i < 1000; i++) {
        map.put(i * stride, i);
      }
      for (int i = 0; i < 1000; i++) {
        assertThat(map.get(i * stride)).isEqualTo(i);
        assertThat(map.get(-1 - i * stride)).isNull();
      }
      assertThat(map.size()).isEqualTo(1000);
    }
  }

  @Test
  void keysAreRemovedByTheirValues() {
    LongMap<Integer> map = new LongMap<>();
    for (int i = 0; i < 1000; i++) {
      map.put(i, i);
    }
    map.removeIf(value -> value % 3 == 0);
    for (int i = 0; i < 1000; i++) {
      assertThat(map.get(i)).isEqualTo(i % 3 == 0 ? null : (Integer) i);
    }
    assertThat(map.size()).isEqualTo(666);
  }

  @Test
  void aClearedMapIsEmpty() {
    LongMap<String> map = new LongMap<>();
    map.put(7, "seven");
    map.clear();
    assertThat(map.get(7)).isNull();
    assertThat(map.size()).isZero();
  }
}
