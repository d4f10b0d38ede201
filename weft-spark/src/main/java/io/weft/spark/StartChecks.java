// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import io.weft.comm.CommException;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/// The conditions of a barrier stage, checked on the driver before it is submitted. Spark would
/// report some of them only after ten minutes.
final class StartChecks {

  private static final Duration POLL = Duration.ofMillis(50);

  private StartChecks() {}

  /// Waits until the application has a slot for each rank. Throws `CommException.Setup` with the
  /// setting to change if the application can never run the ranks at once, or has not enough slots
  /// after `limit`.
  static void require(SparkContext spark, int ranks, Duration limit) {
    if (ranks < 1) {
      throw new CommException.Setup(
          "the data has no partition, and a job needs at least 1 rank", null);
    }
    if (spark.isStopped()) {
      throw new CommException.Setup("the SparkContext is stopped; create a new one", null);
    }
    requireFixedExecutors(spark.getConf());
    requireSlots(spark, ranks, limit);
  }

  /// Throws `CommException.Setup` if Spark adds and removes executors while the application runs.
  static void requireFixedExecutors(SparkConf conf) {
    if (conf.getBoolean("spark.dynamicAllocation.enabled", false)) {
      throw new CommException.Setup(
          "spark.dynamicAllocation.enabled is true; Spark runs no barrier stage with it, because"
              + " all ranks must start together: set it to false and spark.executor.instances to"
              + " the number of executors",
          null);
    }
  }

  private static void requireSlots(SparkContext spark, int ranks, Duration limit) {
    long start = System.nanoTime();
    int slots = slots(spark);
    while (slots < ranks) {
      if (System.nanoTime() - start >= ClampedDuration.nanos(limit) || isFixed(spark)) {
        throw new CommException.Setup(message(spark, ranks, slots), null);
      }
      LockSupport.parkNanos(ClampedDuration.nanos(POLL));
      if (Thread.interrupted()) {
        Thread.currentThread().interrupt();
        throw new CommException.Setup("interrupted while waiting for executors", null);
      }
      slots = slots(spark);
    }
  }

  /// Returns whether no executor can register later.
  private static boolean isFixed(SparkContext spark) {
    return spark.isLocal();
  }

  /// Returns the number of tasks that the registered executors can run at once.
  static int slots(SparkContext spark) {
    return spark.maxNumConcurrentTasks(spark.resourceProfileManager().defaultResourceProfile());
  }

  private static String message(SparkContext spark, int ranks, int slots) {
    int processors = spark.getConf().getInt("spark.task.cpus", 1);
    String remedy =
        spark.isLocal()
            ? "start Spark with the master local[" + (long) ranks * processors + "]"
            : "raise spark.executor.instances or spark.executor.cores";
    return "%d ranks must run at once, but the application has slots for %d tasks (%d executors, %d processors for each task by spark.task.cpus); %s, lower spark.task.cpus, or use at most %d ranks"
        .formatted(
            ranks,
            slots,
            Math.max(1, spark.getExecutorMemoryStatus().size() - (spark.isLocal() ? 0 : 1)),
            processors,
            remedy,
            Math.max(1, slots));
  }
}
