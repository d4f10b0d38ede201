// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.rate;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/// The average of an epoch's metrics over the ranks, weighted by the number of examples of each
/// rank. Stateless; any thread.
public final class MetricAverage {

  /// The largest weight; FLOAT64 represents every integer up to it.
  private static final double MOST_WEIGHT = 1L << 53;

  private MetricAverage() {}

  /// The message of a rank.
  ///
  /// @param weight weight of its metrics
  /// @param metrics metrics by name, sorted
  private record Row(double weight, SortedMap<String, Double> metrics) {

    /// Returns the weight, the number of metrics, and each metric as length of its name, name and
    /// value.
    byte[] encode() {
      List<byte[]> names = new ArrayList<>();
      int bytes = Double.BYTES + Integer.BYTES;
      for (String name : metrics.keySet()) {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        names.add(text);
        bytes += Integer.BYTES + text.length + Double.BYTES;
      }
      ByteBuffer out = ByteBuffer.allocate(bytes).putDouble(weight).putInt(metrics.size());
      int at = 0;
      for (double value : metrics.values()) {
        byte[] text = names.get(at++);
        out.putInt(text.length).put(text).putDouble(value);
      }
      return out.array();
    }

    static Row decode(ByteBuffer in) {
      double weight = in.getDouble();
      int count = in.getInt();
      var metrics = new TreeMap<String, Double>();
      for (int i = 0; i < count; i++) {
        byte[] text = new byte[in.getInt()];
        in.get(text);
        metrics.put(new String(text, StandardCharsets.UTF_8), in.getDouble());
      }
      return new Row(weight, metrics);
    }
  }

  /// Returns the weighted mean of each metric over the ranks. Metrics are added in rank order, so
  /// the result has the same bits on all ranks. Collective; waits for all ranks. All ranks must
  /// give the same names. Otherwise it throws `Mismatch` on all ranks, with the names of two ranks.
  /// Throws `IllegalArgumentException` for a weight that is not a number from 0 to 2^53. If all
  /// weights are 0, the means are NaN.
  ///
  /// @param name name of this exchange, equal on all ranks
  /// @param metrics metrics by name
  /// @param weight weight of this rank, such as its number of examples
  public static SortedMap<String, Double> of(
      Communicator communicator, String name, SortedMap<String, Double> metrics, double weight)
      throws InterruptedException {
    if (!(weight >= 0 && weight <= MOST_WEIGHT)) {
      throw new IllegalArgumentException(
          "the weight of metrics '" + name + "' is a number from 0 to 2^53, got " + weight);
    }
    byte[] own = new Row(weight, metrics).encode();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment bytes = arena.allocate(own.length, 8);
      bytes.copyFrom(MemorySegment.ofArray(own));
      var view = new TensorView(DType.UINT8, Shape.of(own.length), bytes);
      try (TensorLease all = communicator.allgather(view, CollectiveOptions.named(name)).await()) {
        ByteBuffer in = all.view().data().asByteBuffer();
        List<Row> rows = new ArrayList<>();
        for (int rank = 0; rank < communicator.size(); rank++) {
          rows.add(Row.decode(in));
        }
        requireSameNames(communicator, name, rows);
        return means(rows);
      }
    }
  }

  private static void requireSameNames(Communicator communicator, String name, List<Row> rows) {
    List<Integer> ranks = communicator.members().ranks();
    var first = rows.getFirst().metrics().keySet();
    for (int rank = 1; rank < rows.size(); rank++) {
      var its = rows.get(rank).metrics().keySet();
      if (!its.equals(first)) {
        throw new CommException.Mismatch(
            "metrics '%s': rank %d has %s, rank %d has %s; give all ranks the same names of metrics"
                .formatted(name, ranks.getFirst(), first, ranks.get(rank), its));
      }
    }
  }

  private static SortedMap<String, Double> means(List<Row> rows) {
    var means = new TreeMap<String, Double>();
    for (Map.Entry<String, Double> metric : rows.getFirst().metrics().entrySet()) {
      double sum = 0;
      double weights = 0;
      for (Row row : rows) {
        weights += row.weight();
        // A rank without examples may have NaN as its metric.
        double value = row.metrics().getOrDefault(metric.getKey(), Double.NaN);
        sum += row.weight() == 0 ? 0 : row.weight() * value;
      }
      means.put(metric.getKey(), sum / weights);
    }
    return means;
  }
}
