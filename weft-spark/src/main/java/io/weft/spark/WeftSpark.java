// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import io.weft.comm.CommException;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import scala.Function1;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/// Runs programs of many ranks in a Spark application. The tasks of one barrier stage are the ranks
/// of a separate job: they start together, and two jobs of an application never meet. Several ranks
/// may share an executor. Blocks the calling thread; other threads may run other jobs at the same
/// time, which start when slots are free.
///
/// ```java
/// List<Float> sums =
///     WeftSpark.run(
///         spark.sparkContext(),
///         2,
///         rank -> {
///           try (TensorLease x = rank.weft().allocate(DType.FLOAT32, Shape.of(1))) {
///             TensorView view = x.view();
///             view.data().set(ValueLayout.JAVA_FLOAT, 0, rank.rank() + 1);
///             rank.weft().communicator().allreduce(view, view, ReduceOp.SUM, named("sum")).await();
///             return view.data().get(ValueLayout.JAVA_FLOAT, 0);
///           }
///         });
/// ```
///
/// If the program of a rank throws an exception, all ranks end, and the call throws a
/// `RankFailedException` that names it. If an executor is lost, Spark runs all ranks again, up to
/// `spark.stage.maxConsecutiveAttempts` times in total; `SparkRank.place` tells the attempt. The
/// SparkContext remains usable in each case.
///
/// A program that reports its steps by `SparkRank.progress` has its progress logged on the driver,
/// and shown on Spark's stage page.
///
/// Settings of Weft are settings of Spark with the prefix `spark.weft.`, such as
/// `spark.weft.deadline`.
public final class WeftSpark {

  private static final String JAVA_OPTIONS = "spark.executor.extraJavaOptions";
  private static final String DYNAMIC = "spark.dynamicAllocation.enabled";
  private static final String VARIABLE = "spark.executorEnv.";

  private WeftSpark() {}

  /// Adds the settings that executors need for Weft, and returns `conf`: Java flags, no dynamic
  /// allocation, and variables that let ranks share processors and keep TensorFlow quiet. Settings
  /// that `conf` has already are kept. In local mode the driver's own command line needs the flags.
  public static SparkConf conf(SparkConf conf) {
    return conf.set(JAVA_OPTIONS, JavaFlags.added(conf.get(JAVA_OPTIONS, "")))
        .setIfMissing(DYNAMIC, "false")
        .setIfMissing(VARIABLE + "OMP_WAIT_POLICY", "PASSIVE")
        .setIfMissing(VARIABLE + "TF_CPP_MIN_LOG_LEVEL", "2");
  }

  /// Returns the number of tasks that the registered executors can run at once: the greatest number
  /// of ranks.
  public static int slots(SparkContext spark) {
    return StartChecks.slots(spark);
  }

  /// Returns whether the tasks of this data can be ranks. They can not if a coalesce or a union
  /// without a later shuffle makes its partitions of others; `repartition` is the remedy.
  public static boolean canRun(JavaRDD<?> data) {
    return StageLineage.isUniform(data.rdd());
  }

  /// Runs `body` on `ranks` ranks without data and returns their results by rank. Throws
  /// `CommException.Setup` if the application cannot run the ranks at once, and
  /// `RankFailedException` if the program of a rank fails.
  public static <R extends Serializable> List<R> run(
      SparkContext spark, int ranks, RankBody<Integer, R> body) {
    if (ranks < 1) {
      throw new IllegalArgumentException("a job has at least 1 rank, got " + ranks);
    }
    List<Integer> numbers = IntStream.range(0, ranks).boxed().toList();
    return run(JavaSparkContext.fromSparkContext(spark).parallelize(numbers, ranks), body);
  }

  /// Runs `body` on a rank for each partition of the data, and returns their results by rank.
  /// Partitions may be empty. Throws as `run` without data does.
  public static <T, R extends Serializable> List<R> run(Dataset<T> data, RankBody<T, R> body) {
    return run(data.toJavaRDD(), body);
  }

  /// Runs `body` on a rank for each partition of the data, as the overload for a dataset does.
  public static <T, R extends Serializable> List<R> run(JavaRDD<T> data, RankBody<T, R> body) {
    Objects.requireNonNull(body, "body");
    SparkContext spark = data.context();
    JobSpec job = JobSpec.create(spark.getConf());
    Duration limit = job.config(System.getenv(), System.getProperties()).startDeadline();
    StartChecks.require(spark, data.getNumPartitions(), limit);
    if (!canRun(data)) {
      throw new IllegalArgumentException(
          "the %d partitions of the data are made of others in the same stage, by coalesce or union, which Spark refuses where all tasks start together; call repartition(%1$d) before"
              .formatted(data.getNumPartitions()));
    }
    JobCounters counters = JobCounters.register(spark);
    var task = new RankTask<T, R>(job, body, counters);
    @SuppressWarnings("unchecked") // a lambda of both types
    var function =
        (Function1<Iterator<T>, Iterator<byte[]>> & Serializable)
            rows -> single(outcome(task, CollectionConverters.asJava(rows)));
    // As in Spark's Java interface. For the tag of byte[] Spark would choose Kryo, which does not
    // run without flags of Java.
    ClassTag<byte[]> bytes = ClassTag$.MODULE$.apply(Object.class);
    RDD<byte[]> ranks = data.rdd().barrier().mapPartitions(function, false, bytes);
    // The shuffle lets Spark run the stage again: it gives up stages whose tasks return results.
    try (JobProgress _ = JobProgress.of(spark, counters)) {
      return results(JavaRDD.fromRDD(ranks, bytes).coalesce(1, true).collect());
    }
  }

  private static <T, R extends Serializable> byte[] outcome(
      RankTask<T, R> task, java.util.Iterator<T> rows) {
    try {
      return SerializedOutcome.write(TaskContext.getPartitionId(), task.run(rows));
    } catch (RuntimeException refused) {
      throw refused;
    } catch (InterruptedException killed) {
      Thread.currentThread().interrupt();
      throw new CommException.Setup("the task was ended by Spark", killed);
    } catch (Exception other) {
      throw new IllegalStateException(other.toString(), other);
    }
  }

  private static <E> Iterator<E> single(E element) {
    return CollectionConverters.asScala(Collections.singletonList(element).iterator());
  }

  @SuppressWarnings("unchecked") // bodies of R returned them
  private static <R> List<R> results(List<byte[]> outcomes) {
    List<RankOutcome> byRank =
        outcomes.stream()
            .map(SerializedOutcome::read)
            .sorted(Comparator.comparingInt(RankOutcome::rank))
            .toList();
    List<R> results = new ArrayList<>();
    int stoppedBy = -1;
    for (RankOutcome outcome : byRank) {
      switch (outcome) {
        case RankOutcome.Completed completed -> results.add((R) completed.result());
        case RankOutcome.Failed failed ->
            throw new RankFailedException(failed.rank(), failed.message(), failed.trace());
        case RankOutcome.Stopped stopped -> stoppedBy = stopped.by();
      }
    }
    if (stoppedBy >= 0) {
      throw new RankFailedException(stoppedBy, "rank " + stoppedBy + " failed", "no trace");
    }
    return results;
  }
}
