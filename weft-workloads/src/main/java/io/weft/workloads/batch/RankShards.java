// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.batch;

import java.util.Arrays;
import java.util.stream.IntStream;

/// The columns of one rank. The batch is cut into shards of neighbouring columns. Each rank has an
/// equal number of neighbouring shards, in the order of ranks. The number of shards is the number
/// of ranks, or a number that does not change with it.
///
/// @param columns of the whole batch
/// @param count of shards in the batch, a multiple of `size`
/// @param rank from 0
/// @param size the number of ranks
public record RankShards(Columns columns, int count, int rank, int size) {

  /// Throws `IllegalArgumentException` if the shards cannot be divided equally among the ranks.
  public RankShards {
    if (size < 1 || count < size || count % size != 0 || rank < 0 || rank >= size) {
      throw new IllegalArgumentException(
          count + " shards on " + size + " ranks, of which this is rank " + rank);
    }
  }

  /// Returns the numbers of this rank's shards, ascending.
  public int[] shards() {
    int each = count / size;
    return IntStream.range(rank * each, (rank + 1) * each).toArray();
  }

  /// Returns the rank that has a column.
  public int owner(int column) {
    int shard = (int) (((column + 1L) * count - 1) / columns.batch());
    return shard / (count / size);
  }

  /// Returns the rank's share of each batch: the number of examples in all its shards.
  public int width() {
    return Arrays.stream(shards()).map(shard -> columns.width(shard, count)).sum();
  }

  /// Returns the rank's examples, shard by shard.
  public int[] rows() {
    return Arrays.stream(shards())
        .mapToObj(shard -> columns.rows(shard, count))
        .flatMapToInt(Arrays::stream)
        .toArray();
  }

  /// Returns, for each shard of this rank, the positions in `rows` of the examples of an epoch's
  /// batches. Column c of the shard in batch s is at element `s * width + c`.
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
