// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.batch;

import java.util.Arrays;
import java.util.stream.IntStream;

/// The columns of one rank. The batch is cut into shards of neighbouring columns, and each rank has
/// as many neighbouring shards, in the order of ranks: as many shards as ranks, or a number that
/// does not change with that of the ranks.
///
/// @param columns of the whole batch
/// @param count shards in it, a multiple of `size`
/// @param rank from 0
/// @param size ranks
public record RankShards(Columns columns, int count, int rank, int size) {

  /// Throws `IllegalArgumentException` if the ranks would not have as many shards each.
  public RankShards {
    if (size < 1 || count < size || count % size != 0 || rank < 0 || rank >= size) {
      throw new IllegalArgumentException(
          count + " shards on " + size + " ranks, of which this is rank " + rank);
    }
  }

  /// The numbers of this rank's shards, ascending.
  public int[] shards() {
    int each = count / size;
    return IntStream.range(rank * each, (rank + 1) * each).toArray();
  }

  /// Its share of each batch: the examples of all its shards.
  public int width() {
    return Arrays.stream(shards()).map(shard -> columns.width(shard, count)).sum();
  }

  /// Its examples: shard by shard.
  public int[] rows() {
    return Arrays.stream(shards())
        .mapToObj(shard -> columns.rows(shard, count))
        .flatMapToInt(Arrays::stream)
        .toArray();
  }

  /// Where in `rows` the examples of each batch of an epoch are, for each of its shards: element `s
  /// * width + c` is column c of the shard in batch s.
  public int[][] orders(int epoch) {
    int[] shards = shards();
    int[][] orders = new int[shards.length][];
    int base = 0;
    for (int i = 0; i < shards.length; i++) {
      int first = base;
      orders[i] =
          Arrays.stream(columns.order(epoch, shards[i], count)).map(row -> first + row).toArray();
      for (int c = columns.first(shards[i], count); c < columns.first(shards[i] + 1, count); c++) {
        base += columns.depth(c);
      }
    }
    return orders;
  }
}
