// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.property.Property;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LargestTest {

  private final Largest largest = new Largest();

  @Test
  void thresholdMatchesASort() {
    Property.check(
        300, draw -> thresholdMatchesASort(draw.between(1, 500), draw.between(1, 40), draw.seed()));
  }

  private void thresholdMatchesASort(int elements, int distinct, long seed) {
    var random = new Random(seed);
    float[] some = new float[distinct];
    for (int i = 0; i < distinct; i++) {
      some[i] = (float) (random.nextGaussian() * Math.scalb(1.0, random.nextInt(-130, 120)));
    }
    float[] values = new float[elements];
    for (int i = 0; i < elements; i++) {
      values[i] = some[random.nextInt(distinct)];
    }
    float[] sorted = values.clone();
    for (int i = 0; i < elements; i++) {
      sorted[i] = Math.abs(sorted[i]);
    }
    Arrays.sort(sorted);
    int k = 1 + random.nextInt(elements);
    float expected = sorted[elements - k];
    int above = 0;
    for (float magnitude : sorted) {
      above += magnitude > expected ? 1 : 0;
    }
    try (Arena arena = Arena.ofConfined()) {
      int bits = largest.threshold(arena.allocateFrom(JAVA_FLOAT, values), elements, k);
      assertThat(Float.intBitsToFloat(bits)).isEqualTo(expected);
      assertThat(largest.atThreshold()).isEqualTo(k - above);
    }
  }
}
