// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.workloads.batch.Feed;
import io.weft.workloads.batch.RankShards;
import io.weft.workloads.data.Examples;
import java.util.ArrayList;
import java.util.List;

/// The examples that one rank trains on in a step, for each of its shards. Confined to one thread.
/// Owns the tensors.
public final class RankFeed implements AutoCloseable {

  private final RankShards shards;
  private final int[] widths;
  private final List<Feed> feeds = new ArrayList<>();
  private int[][] orders = new int[0][];

  /// Creates a feed of these shards.
  ///
  /// @param examples of this rank, as `RankShards.rows` orders them
  public RankFeed(Examples examples, RankShards shards) {
    this.shards = shards;
    int[] numbers = shards.shards();
    this.widths = new int[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      widths[i] = shards.width(numbers[i]);
      feeds.add(new Feed(examples, widths[i]));
    }
  }

  /// Returns the number of examples in a step.
  public int width() {
    return shards.width();
  }

  /// Returns the number of the first of this rank's shards in the batch.
  int firstShard() {
    return shards.shards()[0];
  }

  /// Loads the order of this epoch; epochs count from 0.
  public void begin(int epoch) {
    orders = shards.orders(epoch);
  }

  /// Loads the examples of this step of the epoch; steps count from 0.
  public void fill(int step) {
    for (int i = 0; i < widths.length; i++) {
      feeds.get(i).fill(orders[i], step * widths[i]);
    }
  }

  /// Returns one feed for each shard, ascending; borrowed.
  public List<Feed> feeds() {
    return List.copyOf(feeds);
  }

  @Override
  public void close() {
    feeds.forEach(Feed::close);
  }
}
