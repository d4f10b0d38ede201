// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.property.Property;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MajorityTest {

  @Test
  void theReferenceHasTheMostFrequentContent() {
    Property.check(
        200,
        draw ->
            theReferenceHasTheMostFrequentContent(
                draw.between(2, 9), draw.between(2, 4), draw.seed()));
  }

  private void theReferenceHasTheMostFrequentContent(int ranks, int distinct, long seed) {
    long[] contents = new Random(seed).longs(ranks, 0, distinct).toArray();
    Divergence.Difference difference = DivergenceSentinel.difference("w", contents);
    long[] holders = new long[distinct];
    for (long content : contents) {
      holders[(int) content]++;
    }
    long most = 0;
    int withMost = 0;
    for (long count : holders) {
      withMost = count > most ? 1 : count == most ? withMost + 1 : withMost;
      most = Math.max(most, count);
    }
    assertThat(holders[(int) contents[difference.reference()]]).isEqualTo(most);
    assertThat(difference.majority())
        .isEqualTo(withMost > 1 ? Divergence.Majority.TIE : Divergence.Majority.CLEAR);
    assertThat(difference.ranks()).hasSize((int) (ranks - most));
    assertThat(difference.ranks()).doesNotContain(difference.reference());
  }
}
