// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.jdk.javaapi.CollectionConverters;

/// The progress of a job, logged on the driver at the heartbeats of executors: at most one line in
/// the time between two heartbeats of an executor. Spark calls it on one thread. Owned; `close`
/// ends the lines.
final class JobProgress extends SparkListener implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(JobProgress.class);
  private static final String INTERVAL = "spark.executor.heartbeatInterval";
  private static final String TEN_SECONDS = "10s";

  private final SparkContext spark;
  private final JobCounters counters;
  private final long intervalNanos;
  private final Map<Long, TaskCounts> tasks = new TreeMap<>();
  private int stage = -1;
  private int attempt = -1;
  private @Nullable Line last;

  private JobProgress(SparkContext spark, JobCounters counters) {
    this.spark = spark;
    this.counters = counters;
    this.intervalNanos =
        TimeUnit.MILLISECONDS.toNanos(spark.getConf().getTimeAsMs(INTERVAL, TEN_SECONDS));
  }

  /// Logs the progress of the tasks that count in these accumulators.
  static JobProgress of(SparkContext spark, JobCounters counters) {
    var progress = new JobProgress(spark, counters);
    spark.addSparkListener(progress);
    return progress;
  }

  /// The counts of a task, or of all tasks.
  private record TaskCounts(long examples, long steps, EpochLoss loss, long bytesSent) {

    static final TaskCounts NONE = new TaskCounts(0, 0, EpochLoss.NONE, 0);

    /// Returns the counts of both. The steps are those of the rank with most of them.
    TaskCounts with(TaskCounts other) {
      return new TaskCounts(
          examples + other.examples,
          Math.max(steps, other.steps),
          loss.with(other.loss),
          bytesSent + other.bytesSent);
    }
  }

  /// @param examples the examples of all ranks when the line was logged
  private record Line(long nanos, long examples) {}

  @Override
  public void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate heartbeat) {
    boolean own = false;
    for (var task : CollectionConverters.asJava(heartbeat.accumUpdates())) {
      TaskCounts counts = counts(CollectionConverters.asJava(task._4()));
      int stageOfTask = (Integer) task._2();
      int attemptOfTask = (Integer) task._3();
      if (counts.steps > 0 && attemptOfTask >= attempt) {
        if (attemptOfTask > attempt) {
          tasks.clear();
          last = null;
        }
        stage = stageOfTask;
        attempt = attemptOfTask;
        tasks.put((Long) task._1(), counts);
        own = true;
      }
    }
    if (own) {
      log(System.nanoTime());
    }
  }

  private TaskCounts counts(Iterable<AccumulableInfo> infos) {
    long examples = 0;
    long steps = 0;
    long bytes = 0;
    EpochLoss loss = EpochLoss.NONE;
    for (AccumulableInfo info : infos) {
      Object value = info.update().isDefined() ? info.update().get() : null;
      if (info.id() == counters.examples().id() && value instanceof Long count) {
        examples = count;
      } else if (info.id() == counters.steps().id() && value instanceof Long count) {
        steps = count;
      } else if (info.id() == counters.bytesSent().id() && value instanceof Long count) {
        bytes = count;
      } else if (info.id() == counters.loss().id() && value instanceof EpochLoss current) {
        loss = current;
      }
    }
    return new TaskCounts(examples, steps, loss, bytes);
  }

  private void log(long now) {
    TaskCounts all = tasks.values().stream().reduce(TaskCounts.NONE, TaskCounts::with);
    Line before = last;
    if (before == null) {
      last = new Line(now, all.examples);
    } else if (now - before.nanos >= intervalNanos) {
      LOG.info(
          "stage {}, attempt {}: step {}, loss {}, {} examples a second on {} ranks, {} MB sent",
          stage,
          attempt,
          all.steps,
          all.loss,
          Math.round((all.examples - before.examples) * 1e9 / (now - before.nanos)),
          tasks.size(),
          String.format(Locale.ROOT, "%.1f", all.bytesSent / 1e6));
      last = new Line(now, all.examples);
    }
  }

  @Override
  public void close() {
    spark.removeSparkListener(this);
  }
}
