// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.property.Property;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ColumnsTest {

  @Test
  void batchesAreTheSameForAnyNumberOfRanks() {
    Property.check(
        200,
        draw ->
            batchesAreTheSameForAnyNumberOfRanks(
                draw.between(1, 40), draw.between(0, 300), draw.between(1, 8), draw.seed()));
  }

  private void batchesAreTheSameForAnyNumberOfRanks(int batch, int more, int ranks, long seed) {
    var columns = new Columns(batch + more, batch, seed);
    int size = Math.min(ranks, batch);
    assertThat(batches(columns, 3, size)).isEqualTo(batches(columns, 3, 1));
  }

  @Test
  void everyExampleHasOneOwnerAndAnEpochRepeatsNone() {
    Property.check(
        200,
        draw ->
            everyExampleHasOneOwnerAndAnEpochRepeatsNone(
                draw.between(1, 40), draw.between(0, 300), draw.between(1, 8), draw.seed()));
  }

  private void everyExampleHasOneOwnerAndAnEpochRepeatsNone(
      int batch, int more, int ranks, long seed) {
    var columns = new Columns(batch + more, batch, seed);
    int size = Math.min(ranks, batch);
    var owned = new ArrayList<Integer>();
    for (int r = 0; r < size; r++) {
      Arrays.stream(columns.rows(r, size)).forEach(owned::add);
    }
    assertThat(owned).hasSize(batch + more).doesNotHaveDuplicates();
    List<Integer> used = batches(columns, 0, size).stream().flatMap(List::stream).toList();
    assertThat(used).hasSize(columns.steps() * batch).doesNotHaveDuplicates();
  }

  @Test
  void epochsDifferAndEveryExampleIsUsedEventually() {
    var columns = new Columns(130, 32, 9);
    assertThat(batches(columns, 0, 1)).isNotEqualTo(batches(columns, 1, 1));
    var used = new TreeSet<Integer>();
    for (int epoch = 0; epoch < 40; epoch++) {
      batches(columns, epoch, 1).forEach(used::addAll);
    }
    assertThat(used).hasSize(130);
  }

  @Test
  void slicesDifferByOneAtMost() {
    var columns = new Columns(1000, 128, 1);
    assertThat(columns.width(0, 3) + columns.width(1, 3) + columns.width(2, 3)).isEqualTo(128);
    assertThat(new int[] {columns.width(0, 3), columns.width(1, 3), columns.width(2, 3)})
        .containsOnly(42, 43);
  }

  @Test
  void aBatchNeedsEnoughExamples() {
    assertThatThrownBy(() -> new Columns(10, 11, 1)).isInstanceOf(IllegalArgumentException.class);
  }

  /// Returns the examples of each global batch, column by column.
  private static List<List<Integer>> batches(Columns columns, int epoch, int size) {
    var batches = new ArrayList<List<Integer>>();
    for (int s = 0; s < columns.steps(); s++) {
      var batch = new ArrayList<Integer>();
      for (int r = 0; r < size; r++) {
        int[] rows = columns.rows(r, size);
        int[] order = columns.order(epoch, r, size);
        int width = columns.width(r, size);
        for (int c = 0; c < width; c++) {
          batch.add(rows[order[s * width + c]]);
        }
      }
      batches.add(batch);
    }
    return batches;
  }
}
