// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.workloads.batch.Feed;
import io.weft.workloads.batch.RankShards;
import io.weft.workloads.data.Examples;
import java.util.ArrayList;
import java.util.List;

/// The examples that one rank trains on in a step, for each pass of each of its shards. Confined to
/// one thread. Owns the tensors.
public final class RankFeed implements AutoCloseable {

  private final RankShards shards;
  private final int passes;
  private final int[] widths;
  private final List<Feed> feeds = new ArrayList<>();
  private int[][] orders = new int[0][];

  /// Creates a feed of these shards.
  ///
  /// @param examples of this rank, as `RankShards.rows` orders them
  public RankFeed(Examples examples, RankShards shards) {
    this(examples, shards, 1);
  }

  /// Creates a feed of these shards, each of which is cut into the examples of several passes.
  public RankFeed(Examples examples, RankShards shards, int passes) {
    this.shards = shards;
    this.passes = passes;
    int[] numbers = shards.shards();
    this.widths = new int[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      widths[i] = shards.width(numbers[i]);
      for (int pass = 0; pass < passes; pass++) {
        int size = first(widths[i], pass + 1, passes) - first(widths[i], pass, passes);
        feeds.add(new Feed(examples, size));
      }
    }
  }

  /// Returns the first of a shard's examples that belongs to a pass.
  static int first(int width, int pass, int passes) {
    return (int) ((long) width * pass / passes);
  }

  /// Returns the number of examples in a step.
  public int width() {
    return shards.width();
  }

  /// Returns the number of this rank's first feed among the feeds of all ranks.
  int firstFeed() {
    return shards.shards()[0] * passes;
  }

  /// Loads the order of this epoch; epochs count from 0.
  public void begin(int epoch) {
    orders = shards.orders(epoch);
  }

  /// Loads the examples of this step of the epoch; steps count from 0.
  public void fill(int step) {
    for (int i = 0; i < widths.length; i++) {
      for (int pass = 0; pass < passes; pass++) {
        int from = step * widths[i] + first(widths[i], pass, passes);
        feeds.get(i * passes + pass).fill(orders[i], from);
      }
    }
  }

  /// Returns the feeds of each pass of each shard, ascending; borrowed.
  public List<Feed> feeds() {
    return List.copyOf(feeds);
  }

  @Override
  public void close() {
    feeds.forEach(Feed::close);
  }
}
