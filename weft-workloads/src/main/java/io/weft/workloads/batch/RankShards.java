// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.batch;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/// The columns of one rank. The batch is cut into shards of neighbouring columns. Each rank has an
/// equal number of neighbouring shards, in the order of ranks. The number of shards is the number
/// of ranks, or a number that does not change with it.
///
/// @param columns of the whole batch
/// @param bounds of the shards, whose number is a multiple of `size`: the first column of each,
///   then the size of the batch
/// @param rank from 0
/// @param size the number of ranks
public record RankShards(Columns columns, List<Integer> bounds, int rank, int size) {

  /// Copies the list. Throws `IllegalArgumentException` if the shards cannot be divided equally
  /// among the ranks, or are not the whole batch.
  public RankShards {
    Objects.requireNonNull(columns, "columns");
    bounds = List.copyOf(bounds);
    int count = bounds.size() - 1;
    if (size < 1 || count < size || count % size != 0 || rank < 0 || rank >= size) {
      throw new IllegalArgumentException(
          count + " shards on " + size + " ranks, of which this is rank " + rank);
    }
    if (bounds.getFirst() != 0 || bounds.getLast() != columns.batch()) {
      throw new IllegalArgumentException(bounds + " of a batch of " + columns.batch());
    }
  }

  /// Creates the columns of a rank in a batch that is cut into `count` shards of like widths.
  public RankShards(Columns columns, int count, int rank, int size) {
    this(columns, equal(columns, count), rank, size);
  }

  private static List<Integer> equal(Columns columns, int count) {
    return IntStream.rangeClosed(0, Math.max(0, count))
        .map(shard -> count < 1 ? 0 : columns.first(shard, count))
        .boxed()
        .toList();
  }

  /// Returns the columns of a rank in a batch of one shard for each rank.
  ///
  /// @param widths of the shares of the ranks
  public static RankShards ofWidths(Columns columns, List<Integer> widths, int rank) {
    int[] bounds = new int[widths.size() + 1];
    for (int i = 0; i < widths.size(); i++) {
      bounds[i + 1] = bounds[i] + widths.get(i);
    }
    return new RankShards(columns, Arrays.stream(bounds).boxed().toList(), rank, widths.size());
  }

  /// Returns the number of shards in the batch.
  public int count() {
    return bounds.size() - 1;
  }

  /// Returns the numbers of this rank's shards, ascending.
  public int[] shards() {
    int each = count() / size;
    return IntStream.range(rank * each, (rank + 1) * each).toArray();
  }

  /// Returns the number of columns of a shard.
  public int width(int shard) {
    return bounds.get(shard + 1) - bounds.get(shard);
  }

  /// Returns the rank that has a column.
  public int owner(int column) {
    int at = Collections.binarySearch(bounds, column + 1);
    int shard = (at < 0 ? -1 - at : at) - 1;
    return shard / (count() / size);
  }

  /// Returns the rank's share of each batch: the number of examples in all its shards.
  public int width() {
    return Arrays.stream(shards()).map(this::width).sum();
  }

  /// Returns the number of examples in all shards of each rank.
  public List<Integer> widths() {
    int each = count() / size;
    return IntStream.range(0, size)
        .map(of -> bounds.get((of + 1) * each) - bounds.get(of * each))
        .boxed()
        .toList();
  }

  /// Returns the rank's examples, shard by shard.
  public int[] rows() {
    int each = count() / size;
    return columns.rowsOf(bounds.get(rank * each), bounds.get((rank + 1) * each));
  }

  /// Returns, for each shard of this rank, the positions in `rows` of the examples of an epoch's
  /// batches. Column c of the shard in batch s is at element `s * width + c`.
  public int[][] orders(int epoch) {
    int[] shards = shards();
    int[][] orders = new int[shards.length][];
    int base = 0;
    for (int i = 0; i < shards.length; i++) {
      int first = base;
      int from = bounds.get(shards[i]);
      int to = bounds.get(shards[i] + 1);
      orders[i] = Arrays.stream(columns.orderOf(epoch, from, to)).map(row -> first + row).toArray();
      for (int c = from; c < to; c++) {
        base += columns.depth(c);
      }
    }
    return orders;
  }
}
