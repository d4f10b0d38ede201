// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RankShardsTest {

  private static final Columns COLUMNS = new Columns(203, 20, 9);

  /// Returns the examples of one shard in one step.
  private static Set<Integer> shard(int ranks, int shard, int epoch, int step) {
    int each = 8 / ranks;
    var of = new RankShards(COLUMNS, 8, shard / each, ranks);
    int[] order = of.orders(epoch)[shard % each];
    int width = COLUMNS.width(shard, 8);
    var examples = new HashSet<Integer>();
    for (int c = 0; c < width; c++) {
      examples.add(of.rows()[order[step * width + c]]);
    }
    return examples;
  }

  @Test
  void aShardHasTheSameExamplesOnEveryRank() {
    for (int shard = 0; shard < 8; shard++) {
      for (int step : new int[] {0, 4, 9}) {
        Set<Integer> alone = shard(1, shard, 1, step);
        assertThat(alone).hasSize(COLUMNS.width(shard, 8));
        for (int ranks : new int[] {2, 4, 8}) {
          assertThat(shard(ranks, shard, 1, step)).isEqualTo(alone);
        }
      }
    }
  }

  @Test
  void theShardsOfAStepFormABatch() {
    var all = new HashSet<Integer>();
    for (int shard = 0; shard < 8; shard++) {
      all.addAll(shard(4, shard, 0, 3));
    }
    assertThat(all).hasSize(20);
    int width = 0;
    for (int rank = 0; rank < 4; rank++) {
      width += new RankShards(COLUMNS, 8, rank, 4).width();
    }
    assertThat(width).isEqualTo(20);
  }

  @Test
  void oneShardForEachRankHasTheColumnsOfThatRank() {
    var third = new RankShards(COLUMNS, 3, 2, 3);
    assertThat(third.rows()).isEqualTo(COLUMNS.rows(2, 3));
    assertThat(third.orders(5)).hasDimensions(1, COLUMNS.order(5, 2, 3).length);
    assertThat(third.orders(5)[0]).isEqualTo(COLUMNS.order(5, 2, 3));
    assertThat(Arrays.stream(new RankShards(COLUMNS, 8, 1, 2).shards()).boxed())
        .containsExactly(4, 5, 6, 7);
  }

  @Test
  void ranksMustDivideTheShards() {
    assertThatThrownBy(() -> new RankShards(COLUMNS, 8, 0, 3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("8 shards on 3 ranks");
  }
}
