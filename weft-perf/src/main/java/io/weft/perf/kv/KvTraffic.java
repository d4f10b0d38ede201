// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.perf.kv.KvPlan.Subject;
import io.weft.testkit.random.ZipfKeys;
import java.util.Arrays;
import java.util.stream.LongStream;

/// The keys and values of a worker's requests. All of it follows from the plan, so that each worker
/// and each peer asks for the same, and knows what the servers must have at the end.
///
/// Before the first request each row of a sparse table is pushed once, all values 1; so are those
/// of the requests. Else values repeat: sums of small whole numbers are exact.
public final class KvTraffic {

  /// Apart, so that the keys are no range.
  private static final long STRIDE = 7;

  private static final int PATTERN = 16;

  /// Lists of keys that follow one another. A worker remembers fewer, so that each is new to it.
  private static final int MOST_BATCHES = 256;

  private static final int MOST_DRAWN = 1 << 24;

  private final KvPlan plan;
  private final long[][] batches;

  /// @param worker from 0
  public KvTraffic(KvPlan plan, int worker) {
    this.plan = plan;
    this.batches =
        switch (plan.subject()) {
          case Subject.Pairs(int keys, int _) ->
              new long[][] {LongStream.range(0, keys).map(it -> it * STRIDE).toArray()};
          case Subject.Tensor _ -> new long[][] {{0}};
          case Subject.Rows rows -> drawn(rows, worker);
        };
  }

  private static long[][] drawn(Subject.Rows rows, int worker) {
    int count = Math.clamp(MOST_DRAWN / rows.keys(), 2, MOST_BATCHES);
    int[] all = ZipfKeys.draw(rows.rows(), rows.zipf(), count * rows.keys(), 1 + worker);
    long[][] batches = new long[count][rows.keys()];
    for (int i = 0; i < all.length; i++) {
      batches[i / rows.keys()][i % rows.keys()] = key(all[i]);
    }
    return batches;
  }

  /// Largest key of pairs.
  public long lastKey() {
    return batches[0][batches[0].length - 1];
  }

  /// Key of a row of a sparse table: any number.
  public static long key(int row) {
    return (row + 1) * 0x9e3779b97f4a7c15L;
  }

  /// Keys of a request, counted from the first that is not timed.
  public long[] keys(int request) {
    return batches[request % batches.length];
  }

  /// One value of a push, by its place among all of the request.
  public float value(long place) {
    return plan.subject() instanceof Subject.Rows ? 1 : place % PATTERN;
  }

  /// Rows of a sparse table that are pushed before the first request; 0 of others.
  public int loaded() {
    return plan.subject() instanceof Subject.Rows rows ? rows.rows() : 0;
  }

  /// How often each row of a sparse table was pushed by all workers after so many requests of each,
  /// and the load.
  ///
  /// @param requests of each worker
  public static int[] pushesOfRows(KvPlan plan, int requests) {
    Subject.Rows rows = (Subject.Rows) plan.subject();
    int[] counts = new int[rows.rows()];
    Arrays.fill(counts, 1);
    if (!plan.op().adds()) {
      return counts;
    }
    for (int worker = 0; worker < plan.workers(); worker++) {
      int batches = Math.clamp(MOST_DRAWN / rows.keys(), 2, MOST_BATCHES);
      int[] all = ZipfKeys.draw(rows.rows(), rows.zipf(), batches * rows.keys(), 1 + worker);
      for (int i = 0; i < all.length; i++) {
        int batch = i / rows.keys();
        counts[all[i]] += requests / batches + (batch < requests % batches ? 1 : 0);
      }
    }
    return counts;
  }

  /// What a value of pairs or of a tensor must be after so many pushes of all workers.
  public float expected(long place, long pushes) {
    return plan.op().adds() ? pushes * value(place) : 0;
  }

  /// The most that a value of pairs or of a tensor comes to.
  public static long largest(KvPlan plan) {
    return plan.op().adds() && !(plan.subject() instanceof Subject.Rows)
        ? (PATTERN - 1L) * plan.workers() * (plan.warmUp() + plan.requests())
        : 0;
  }
}
