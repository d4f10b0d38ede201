// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.property.Property;
import io.weft.tensor.quantize.Quantizer;
import org.junit.jupiter.api.Test;

class SlicesTest {

  @Test
  void slicesCoverTheTensorAtBoundsOfBlocks() {
    Property.check(
        100,
        draw -> slicesCoverTheTensorAtBoundsOfBlocks(draw.between(0, 20_000), draw.between(1, 9)));
  }

  private void slicesCoverTheTensorAtBoundsOfBlocks(int elements, int ranks) {
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
