// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.perf.kv.KvPlan.Subject;
import io.weft.testkit.random.ZipfKeys;
import java.util.Arrays;
import java.util.stream.LongStream;

/// The keys and values of a worker's requests. They follow from the plan alone, so that all workers
/// and peers make equal requests and know the servers' final values.
///
/// Each row of a sparse table is pushed once before the first request. All its values are 1, as are
/// those of the requests. Other subjects have a repeating pattern of values. The sums are exact
/// because the values are small integers.
public final class KvTraffic {

  /// The distance between keys, which prevents contiguous ranges.
  private static final long STRIDE = 7;

  private static final int PATTERN = 16;

  /// The number of key lists in a cycle. It exceeds the number that a worker caches, so each is
  /// new.
  private static final int MOST_BATCHES = 256;

  private static final int MOST_DRAWN = 1 << 24;

  private final KvPlan plan;
  private final long[][] batches;

  /// @param worker the worker's number, from 0
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

  /// Returns the largest key of pairs.
  public long lastKey() {
    return batches[0][batches[0].length - 1];
  }

  /// Returns the key of a row of a sparse table, which may be any number.
  public static long key(int row) {
    return (row + 1) * 0x9e3779b97f4a7c15L;
  }

  /// Returns the keys of a request. The first untimed request has number 0.
  public long[] keys(int request) {
    return batches[request % batches.length];
  }

  /// Returns a pushed value by its index among the values of the request.
  public float value(long place) {
    return plan.subject() instanceof Subject.Rows ? 1 : place % PATTERN;
  }

  /// Returns the number of rows of a sparse table that are pushed before the first request,
  /// otherwise 0.
  public int loaded() {
    return plan.subject() instanceof Subject.Rows rows ? rows.rows() : 0;
  }

  /// Returns how many times all workers together have pushed each row of a sparse table, including
  /// the initial load.
  ///
  /// @param requests number of requests of each worker
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

  /// Returns the value of pairs or of a tensor after `pushes` pushes of all workers.
  public float expected(long place, long pushes) {
    return plan.op().adds() ? pushes * value(place) : 0;
  }

  /// Returns the largest value of pairs or of a tensor after all pushes.
  public static long largest(KvPlan plan) {
    return plan.op().adds() && !(plan.subject() instanceof Subject.Rows)
        ? (PATTERN - 1L) * plan.workers() * (plan.warmUp() + plan.requests())
        : 0;
  }
}
