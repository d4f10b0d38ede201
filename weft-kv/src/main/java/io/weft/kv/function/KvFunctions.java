// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;

/// The built-in functions. They sum in 64-bit floats.
public final class KvFunctions {

  /// Returns the Euclidean norm of all values of a table or tensor.
  public static KvFunction<Double> norm() {
    return new OfDoubles("norm", "") {
      @Override
      double run(ShardValues shard, String given) {
        double[] sum = new double[1];
        shard.forEach(
            (at, values) -> {
              for (long i = 0; i < count(values); i++) {
                double value = value(values, i);
                sum[0] += value * value;
              }
            });
        return sum[0];
      }

      @Override
      double end(double sum) {
        return Math.sqrt(sum);
      }
    };
  }

  /// Returns the scalar product with the table or tensor of this name, which must have the same
  /// kind, width and slicer. A row that exists in only one of them contributes zero.
  public static KvFunction<Double> dot(String other) {
    Objects.requireNonNull(other, "other");
    return new OfDoubles("dot", other) {
      @Override
      double run(ShardValues shard, String given) {
        ShardValues second = CoPartitioning.table(shard, given);
        Map<Long, MemorySegment> theirs = new HashMap<>();
        second.forEach(theirs::put);
        double[] sum = new double[1];
        shard.forEach(
            (at, values) -> {
              MemorySegment there = theirs.get(at);
              long both = there == null ? 0 : Math.min(count(there), count(values));
              for (long i = 0; there != null && i < both; i++) {
                sum[0] += (double) value(values, i) * value(there, i);
              }
            });
        return sum[0];
      }
    };
  }

  /// Returns the sum of all values.
  public static KvFunction<Double> sum() {
    return new OfDoubles("sum", "") {
      @Override
      double run(ShardValues shard, String given) {
        double[] sum = new double[1];
        shard.forEach(
            (at, values) -> {
              for (long i = 0; i < count(values); i++) {
                sum[0] += value(values, i);
              }
            });
        return sum[0];
      }
    };
  }

  private KvFunctions() {}

  /// Returns one instance of each function, for lookup by name on servers.
  public static List<KvFunction<?>> all() {
    return List.of(norm(), dot(""), sum(), topK(1));
  }

  /// One of the largest values.
  ///
  /// @param at key of its row or value; of a tensor the index of its element
  /// @param column in the row or value; 0 for a tensor
  public record Found(long at, int column, float value) {}

  /// Returns the `k` values of largest magnitude, in descending order of magnitude. Equal
  /// magnitudes are in ascending order of keys. Throws `IllegalArgumentException` unless `k` is 1
  /// to 32.
  public static KvFunction<List<Found>> topK(int k) {
    if (k < 1 || k > TopK.MOST) {
      throw new IllegalArgumentException(k + " values; 1 to " + TopK.MOST);
    }
    return new TopK(k);
  }

  private static long count(MemorySegment values) {
    return values.byteSize() / Float.BYTES;
  }

  private static float value(MemorySegment values, long at) {
    return values.get(JAVA_FLOAT_UNALIGNED, at * Float.BYTES);
  }

  /// A function with one number per shard, which are summed.
  private abstract static class OfDoubles implements KvFunction<Double> {
    private final String name;
    private final String argument;

    OfDoubles(String name, String argument) {
      this.name = name;
      this.argument = argument;
    }

    abstract double run(ShardValues shard, String given);

    double end(double sum) {
      return sum;
    }

    @Override
    public final String name() {
      return name;
    }

    @Override
    public final byte[] argument() {
      return argument.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public final byte[] run(ShardValues shard, byte[] given) {
      double mine = run(shard, new String(given, StandardCharsets.UTF_8));
      return ByteBuffer.allocate(Double.BYTES).putDouble(mine).array();
    }

    @Override
    public final Double join(List<byte[]> results) {
      double sum = 0;
      for (byte[] each : results) {
        sum += ByteBuffer.wrap(each).getDouble();
      }
      return end(sum);
    }
  }

  /// The largest values of each shard, then the largest of these.
  private record TopK(int k) implements KvFunction<List<Found>> {

    static final int MOST = 32;
    private static final int BYTES = Long.BYTES + Integer.BYTES + Float.BYTES;

    /// The order whose first element is the least of the result.
    private static final Comparator<Found> LEAST_FIRST =
        Comparator.<Found>comparingDouble(it -> Math.abs(it.value()))
            .thenComparing(
                Comparator.comparingLong(Found::at).thenComparingInt(Found::column).reversed());

    @Override
    public String name() {
      return "top-k";
    }

    @Override
    public byte[] argument() {
      return String.valueOf(k).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public byte[] run(ShardValues shard, byte[] given) {
      int wanted = Integer.parseInt(new String(given, StandardCharsets.UTF_8));
      if (wanted < 1 || wanted > MOST) {
        throw new IllegalArgumentException(wanted + " values; 1 to " + MOST);
      }
      boolean rows = shard.spec().kind() != TableSpec.Kind.TENSOR;
      PriorityQueue<Found> largest = new PriorityQueue<>(LEAST_FIRST);
      shard.forEach(
          (at, values) -> {
            for (int i = 0; i < count(values); i++) {
              var found = new Found(rows ? at : at + i, rows ? i : 0, value(values, i));
              largest.add(found);
              if (largest.size() > wanted) {
                var unused = largest.remove();
              }
            }
          });
      ByteBuffer bytes = ByteBuffer.allocate(BYTES * largest.size());
      for (Found each : largest) {
        bytes.putLong(each.at()).putInt(each.column()).putFloat(each.value());
      }
      return bytes.array();
    }

    @Override
    public List<Found> join(List<byte[]> results) {
      List<Found> all = new ArrayList<>();
      for (byte[] each : results) {
        ByteBuffer bytes = ByteBuffer.wrap(each);
        while (bytes.hasRemaining()) {
          all.add(new Found(bytes.getLong(), bytes.getInt(), bytes.getFloat()));
        }
      }
      all.sort(LEAST_FIRST.reversed());
      return List.copyOf(all.subList(0, Math.min(k, all.size())));
    }
  }
}
