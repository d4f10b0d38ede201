// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class FragmentsTest {

  @Property(tries = 300)
  void everyTensorIsInOneFragmentAndNoneIsMuchLonger(
      @ForAll @Size(min = 1, max = 30) List<@LongRange(min = 1, max = 1_000_000) Long> elements,
      @ForAll @IntRange(min = 1, max = 8) int wanted) {
    int fragments = Math.min(wanted, elements.size());
    List<List<Integer>> parts = Fragments.cut(elements, fragments);
    assertThat(parts).hasSize(fragments).noneMatch(List::isEmpty);
    assertThat(parts.stream().flatMap(List::stream).toList())
        .doesNotHaveDuplicates()
        .hasSize(elements.size());
    List<Long> lengths =
        parts.stream().map(part -> part.stream().mapToLong(elements::get).sum()).toList();
    long longest = lengths.stream().mapToLong(Long::longValue).max().orElseThrow();
    long shortest = lengths.stream().mapToLong(Long::longValue).min().orElseThrow();
    long tensor = elements.stream().mapToLong(Long::longValue).max().orElseThrow();
    assertThat(longest - shortest).isLessThanOrEqualTo(tensor);
  }

  @Test
  void emptyTensorsFillFragmentsToo() {
    assertThat(Fragments.cut(List.of(0L, 0L, 5L), 3))
        .containsExactly(List.of(2), List.of(0), List.of(1));
  }

  @Test
  void aFragmentHasAtLeastOneTensor() {
    assertThatThrownBy(() -> Fragments.cut(List.of(1L, 2L), 3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("3 fragments of 2 tensors");
  }
}
