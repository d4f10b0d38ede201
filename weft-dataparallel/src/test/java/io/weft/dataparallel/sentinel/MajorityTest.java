// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class MajorityTest {

  @Property(tries = 200)
  void theReferenceHasTheMostFrequentContent(
      @ForAll @IntRange(min = 2, max = 9) int ranks,
      @ForAll @IntRange(min = 2, max = 4) int distinct,
      @ForAll long seed) {
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
