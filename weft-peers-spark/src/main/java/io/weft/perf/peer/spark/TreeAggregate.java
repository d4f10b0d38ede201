// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer.spark;

import io.weft.perf.rank.RankArguments;
import io.weft.perf.rank.RankGroup;
import io.weft.perf.rank.RankProgram;
import io.weft.perf.rank.SizeLoop;
import io.weft.perf.rank.Tiles;
import io.weft.perf.rank.TimedCall;
import java.io.PrintStream;
import java.io.Serial;
import java.io.Serializable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/// A driver that sums one array of each executor by `treeAggregate`. The arrays are in the memory
/// of the executors before a call, and the sum is in that of the driver after it. The driver is the
/// only rank that takes turns, because executors work only for its jobs.
///
/// Its arguments are the number of executors and those of `RankArguments`.
public final class TreeAggregate {

  private final JavaSparkContext spark;
  private final int executors;

  private TreeAggregate(JavaSparkContext spark, int executors) {
    this.spark = spark;
    this.executors = executors;
  }

  /// Exits with the exit code of a `RankProgram`.
  public static void main(String[] words) {
    RankProgram.exit(words, TreeAggregate::measure);
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    int executors = Integer.parseInt(words.getFirst());
    RankArguments arguments = RankArguments.parse(words.subList(1, words.size()));
    try (JavaSparkContext spark = new JavaSparkContext(conf(executors))) {
      TreeAggregate driver = new TreeAggregate(spark, executors);
      driver.checkPlaces();
      new SizeLoop(
              new Driver(),
              arguments,
              one -> driver.sum(Math.toIntExact(one.bytes() / Float.BYTES)),
              err)
          .run("spark " + spark.version(), out);
    }
  }

  private static SparkConf conf(int executors) {
    return new SparkConf()
        .setAppName("weft perf")
        .setMaster("local-cluster[%d,1,3072]".formatted(executors))
        .set("spark.executor.memory", "2g")
        .set("spark.executor.extraClassPath", System.getProperty("java.class.path"))
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.driver.maxResultSize", "0")
        .set("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .set("spark.scheduler.maxRegisteredResourcesWaitingTime", "2m")
        .set("spark.ui.enabled", "false");
  }

  private List<Integer> numbers() {
    return IntStream.range(0, executors).boxed().toList();
  }

  /// Throws `IllegalStateException` unless a job with one task for each executor uses all of them.
  private void checkPlaces() {
    long places =
        spark
            .parallelize(numbers(), executors)
            .map(number -> SparkEnv.get().executorId())
            .distinct()
            .count();
    if (places != executors) {
      throw new IllegalStateException(
          "Spark ran %d tasks on %d executors".formatted(executors, places));
    }
  }

  private Sum sum(int elements) {
    return new Sum(
        spark
            .parallelize(numbers(), executors)
            .map(number -> new Part(number, new float[elements]))
            .cache(),
        elements,
        executors * (executors + 1) / 2);
  }

  /// The array of one executor, which `fill` rewrites in place in the executor's cache.
  ///
  /// @param number number of the executor's part
  /// @param values the array
  private record Part(int number, float[] values) implements Serializable {

    @Serial private static final long serialVersionUID = 1L;

    private void fill(long t) {
      try (Arena arena = Arena.ofConfined()) {
        new Tiles(arena, number + 1).fill(MemorySegment.ofArray(values), number + 1, t);
      }
    }

    /// Adds the array to `sum`, which is empty before the first array.
    private static float[] added(float[] sum, float[] more) {
      if (sum.length == 0) {
        return more.clone();
      }
      for (int i = 0; i < more.length; i++) {
        sum[i] += more[i];
      }
      return sum;
    }
  }

  /// The driver as the only rank.
  private record Driver() implements RankGroup {

    @Override
    public int rank() {
      return 0;
    }

    @Override
    public int size() {
      return 1;
    }

    @Override
    public void barrier() {}

    @Override
    public void largest(long[] counts) {}
  }

  /// The sum of the executors' arrays.
  private static final class Sum implements TimedCall {

    private final Arena arena = Arena.ofConfined();
    private final JavaRDD<Part> parts;
    private final int elements;
    private final int sumOfScales;
    private final Tiles tiles;
    private float[] sum = {};

    private Sum(JavaRDD<Part> parts, int elements, int sumOfScales) {
      this.parts = parts;
      this.elements = elements;
      this.sumOfScales = sumOfScales;
      this.tiles = new Tiles(arena, sumOfScales);
    }

    @Override
    public void fill(long t) {
      parts.foreach(part -> part.fill(t));
    }

    @Override
    public void call() {
      sum =
          parts.treeAggregate(
              new float[0], (all, part) -> Part.added(all, part.values()), Part::added);
    }

    @Override
    public boolean right(long t) {
      MemorySegment result = MemorySegment.ofArray(sum);
      long bytes = (long) elements * Float.BYTES;
      return result.byteSize() == bytes && tiles.same(result, 0, bytes, sumOfScales, t);
    }

    @Override
    public void close() {
      parts.unpersist();
      arena.close();
    }
  }
}
