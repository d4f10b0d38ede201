// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.rate;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/// Metrics of an epoch, of which each rank knows those of its own examples, averaged over the ranks
/// by how many examples each has. Holds nothing; any thread.
public final class MetricAverage {

  private static final int HEAD = 2;

  private MetricAverage() {}

  /// The mean of each metric over the ranks, weighted: added in the order of ranks, and so the same
  /// bits on all. Collective, and waits; all ranks give the same names. Throws `Mismatch` on all
  /// ranks if they do not, and `IllegalArgumentException` for a weight that is negative or no
  /// number. Where all weights are 0 the means are NaN.
  ///
  /// @param name of this exchange, the same on all ranks
  /// @param metrics by name
  /// @param weight of this rank, such as its number of examples
  public static SortedMap<String, Double> over(
      Communicator communicator, String name, SortedMap<String, Double> metrics, double weight)
      throws InterruptedException {
    if (!(weight >= 0 && weight <= Double.MAX_VALUE)) {
      throw new IllegalArgumentException(
          "the weight of metrics '" + name + "' is a number from 0, got " + weight);
    }
    int width = HEAD + metrics.size();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment row = arena.allocate(width * 8L, 64);
      row.set(JAVA_LONG_UNALIGNED, 0, String.join("\n", metrics.keySet()).hashCode());
      row.set(JAVA_DOUBLE_UNALIGNED, 8, weight);
      long at = HEAD * 8L;
      for (double value : metrics.values()) {
        row.set(JAVA_DOUBLE_UNALIGNED, at, value);
        at += 8;
      }
      var view = new TensorView(DType.FLOAT64, Shape.of(1, width), row);
      try (TensorLease all = communicator.allgather(view, CollectiveOptions.named(name)).await()) {
        requireSameNames(communicator, name, all.view().data(), width);
        return means(communicator, metrics, all.view().data(), width);
      }
    }
  }

  private static void requireSameNames(
      Communicator communicator, String name, MemorySegment all, int width) {
    List<Integer> ranks = communicator.members().ranks();
    long own = all.get(JAVA_LONG_UNALIGNED, 8L * width * communicator.rank());
    for (int rank = 0; rank < communicator.size(); rank++) {
      if (all.get(JAVA_LONG_UNALIGNED, 8L * width * rank) != own) {
        throw new CommException.Mismatch(
            "metrics '%s': rank %d has other names of metrics than rank %d; give all ranks the same"
                .formatted(name, ranks.get(rank), ranks.get(communicator.rank())));
      }
    }
  }

  private static SortedMap<String, Double> means(
      Communicator communicator, SortedMap<String, Double> metrics, MemorySegment all, int width) {
    var means = new TreeMap<String, Double>();
    int column = HEAD;
    for (String metric : metrics.keySet()) {
      double sum = 0;
      double weights = 0;
      for (int rank = 0; rank < communicator.size(); rank++) {
        long row = 8L * width * rank;
        double weight = all.get(JAVA_DOUBLE_UNALIGNED, row + 8);
        weights += weight;
        // A rank without examples may have no metric either.
        sum += weight == 0 ? 0 : weight * all.get(JAVA_DOUBLE_UNALIGNED, row + column * 8L);
      }
      means.put(metric, sum / weights);
      column++;
    }
    return means;
  }
}
