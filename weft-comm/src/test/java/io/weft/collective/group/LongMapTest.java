// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

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

  @Test
  void aClearedMapIsEmpty() {
    LongMap<String> map = new LongMap<>();
    map.put(7, "seven");
    map.clear();
    assertThat(map.get(7)).isNull();
    assertThat(map.size()).isZero();
  }
}
