// SPDX-License-Identifier: Apache-2.0
package examples.spark;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.collective.Communicator;
import io.weft.spark.SparkRank;
import io.weft.spark.WeftSpark;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.io.IOException;
import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/// Times the sum of an array of each executor in one application: by Spark's `treeAggregate`, after
/// which the driver has the sum, and by Weft's allreduce, after which all ranks have it. The arrays
/// are on Java's heap in the executors before and after; Weft's time includes both copies. On two
/// executors of this host:
///
/// ```
/// examples/spark/run Reduction
/// ```
///
/// The program prints a table of medians. The last line of the output is JSON: the number of
/// executors, whether all sums were right, and the ratios of the medians. Arguments: the number of
/// repetitions, then sizes in KiB.
public final class Reduction {

  private static final int RANKS = 2;
  private static final int MOST_KIB = 256 << 10;
  private static final int TREE_WARM_UP = 20;

  /// More calls, because a call is shorter and Java compiles a loop after a number of runs.
  private static final int WEFT_WARM_UP = 200;

  private Reduction() {}

  /// Runs the comparison.
  public static void main(String[] arguments) throws IOException {
    var given = new Arguments(arguments);
    int times = given.number(0, "repetitions", 21, 1, 100_000);
    int[] sizes =
        arguments.length > 1
            ? IntStream.range(1, arguments.length)
                .map(at -> given.number(at, "KiB", 0, 1, MOST_KIB))
                .toArray()
            : new int[] {1 << 10, 16 << 10, 64 << 10};
    SparkConf conf =
        WeftSpark.conf(new SparkConf())
            .setAppName("reduction")
            .setIfMissing("spark.master", "local-cluster[2,1,2048]")
            .set("spark.executor.memory", "2g")
            .set("spark.ui.enabled", "false");
    try (SparkSession spark = SparkSession.builder().config(conf).getOrCreate()) {
      boolean checked = true;
      List<String> ratios = new ArrayList<>();
      System.out.println("       KiB  treeAggregate ms     Weft ms   ratio");
      for (int size : sizes) {
        int count = Math.multiplyExact(size, 1 << 8);
        Timed weft = byWeft(spark, count, times);
        Timed tree = byTree(spark, count, times);
        double ratio = tree.medianMillis() / weft.medianMillis();
        System.out.printf(
            Locale.ROOT,
            "%10d %17.2f %11.3f %7.1f%n",
            size,
            tree.medianMillis(),
            weft.medianMillis(),
            ratio);
        checked &= weft.right && tree.right;
        ratios.add(String.format(Locale.ROOT, "%.1f", ratio));
      }
      System.out.printf(
          "{\"executors\":%d,\"checked\":%b,\"ratios\":[%s]}%n",
          RANKS, checked, String.join(",", ratios));
    }
  }

  /// @param nanos the time of each repetition
  /// @param right whether all sums were right
  private record Timed(long[] nanos, boolean right) implements Serializable {

    double medianMillis() {
      return Arrays.stream(nanos).sorted().skip(nanos.length / 2).findFirst().orElseThrow() / 1e6;
    }
  }

  /// Returns the array of a rank, whose element i is (rank + 1) * (i mod 1024).
  private static float[] array(int rank, int count) {
    float[] array = new float[count];
    for (int i = 0; i < count; i++) {
      array[i] = (rank + 1) * (i & 1023);
    }
    return array;
  }

  private static Timed byTree(SparkSession spark, int count, int times) {
    JavaRDD<float[]> arrays =
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(IntStream.range(0, RANKS).boxed().toList(), RANKS)
            .map(rank -> array(rank, count))
            .cache();
    float[] expected = array(2, count); // 1 + 2 = 3
    long[] nanos = new long[TREE_WARM_UP + times];
    boolean right = true;
    for (int i = 0; i < nanos.length; i++) {
      long begin = System.nanoTime();
      float[] sum = arrays.treeAggregate(new float[0], Reduction::added, Reduction::added);
      nanos[i] = System.nanoTime() - begin;
      right &= Arrays.equals(sum, expected);
    }
    arrays.unpersist();
    return new Timed(Arrays.copyOfRange(nanos, TREE_WARM_UP, nanos.length), right);
  }

  /// Adds `more` to `sum`, which is empty before the first array.
  private static float[] added(float[] sum, float[] more) {
    if (sum.length == 0) {
      return more.clone();
    }
    for (int i = 0; i < more.length; i++) {
      sum[i] += more[i];
    }
    return sum;
  }

  /// Returns the times of the slowest rank.
  private static Timed byWeft(SparkSession spark, int count, int times) {
    List<Timed> ranks =
        WeftSpark.run(spark.sparkContext(), RANKS, rank -> timed(rank, count, times));
    long[] slowest =
        IntStream.range(0, times)
            .mapToLong(i -> ranks.stream().mapToLong(each -> each.nanos[i]).max().orElseThrow())
            .toArray();
    return new Timed(slowest, ranks.stream().allMatch(Timed::right));
  }

  private static Timed timed(SparkRank<?> rank, int count, int times) throws InterruptedException {
    float[] own = array(rank.rank(), count);
    float[] sum = new float[count];
    float[] expected = array(2, count);
    Communicator communicator = rank.weft().communicator();
    long[] nanos = new long[WEFT_WARM_UP + times];
    boolean right = true;
    try (TensorLease in = rank.weft().allocate(DType.FLOAT32, Shape.of(count));
        TensorLease out = rank.weft().allocate(DType.FLOAT32, Shape.of(count))) {
      MemorySegment input = in.view().data();
      MemorySegment output = out.view().data();
      for (int i = 0; i < nanos.length; i++) {
        communicator.barrier(named("begin")).await();
        long begin = System.nanoTime();
        MemorySegment.copy(own, 0, input, ValueLayout.JAVA_FLOAT, 0, count);
        communicator.allreduce(in.view(), out.view(), ReduceOp.SUM, named("sum")).await();
        MemorySegment.copy(output, ValueLayout.JAVA_FLOAT, 0, sum, 0, count);
        nanos[i] = System.nanoTime() - begin;
        right &= Arrays.equals(sum, expected);
      }
    }
    return new Timed(Arrays.copyOfRange(nanos, WEFT_WARM_UP, nanos.length), right);
  }
}
