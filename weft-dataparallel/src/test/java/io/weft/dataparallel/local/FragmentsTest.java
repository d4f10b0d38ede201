// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.property.Property;
import java.util.List;
import org.junit.jupiter.api.Test;

class FragmentsTest {

  @Test
  void everyTensorIsInOneFragmentAndNoneIsMuchLonger() {
    Property.check(
        300,
        draw ->
            everyTensorIsInOneFragmentAndNoneIsMuchLonger(
                draw.list(1, 30, () -> draw.between(1L, 1_000_000)), draw.between(1, 8)));
  }

  private void everyTensorIsInOneFragmentAndNoneIsMuchLonger(List<Long> elements, int wanted) {
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
  void emptyTensorsFillFragments() {
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
