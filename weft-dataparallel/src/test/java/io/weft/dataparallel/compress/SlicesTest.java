// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.quantize.Quantizer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class SlicesTest {

  @Property(tries = 100)
  void slicesCoverTheTensorAtBoundsOfBlocks(
      @ForAll @IntRange(max = 20_000) int elements, @ForAll @IntRange(min = 1, max = 9) int ranks) {
    var slices = new Slices(elements, ranks);
    long next = 0;
    for (int rank = 0; rank < ranks; rank++) {
      assertThat(slices.first(rank)).isEqualTo(next);
      assertThat(next % Quantizer.BLOCK == 0 || next == elements).isTrue();
      next += slices.count(rank);
    }
    assertThat(next).isEqualTo(elements);
  }
}
