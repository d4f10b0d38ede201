// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import io.weft.Weft;
import java.util.Iterator;
import java.util.Objects;

/// A rank of a job in Spark: a task of the barrier stage. Valid until `RankBody.run` returns.
///
/// @param <T> type of the rows of the partition
public final class SparkRank<T> {

  private final Weft weft;
  private final Iterator<T> partition;
  private final Place place;
  private final RankProgress progress;

  /// @param partition the rows of the task
  SparkRank(Weft weft, Iterator<T> partition, Place place, RankProgress progress) {
    this.weft = weft;
    this.partition = partition;
    this.place = place;
    this.progress = progress;
  }

  /// The position of a rank in the Spark application.
  ///
  /// @param executor Spark's identifier of the executor, "driver" in local mode
  /// @param host the address of the executor
  /// @param attempt Spark's number of the attempt of the stage, 0 for the first
  /// @param processors the processors that Spark gives to the task (`spark.task.cpus`)
  public record Place(String executor, String host, int attempt, int processors) {
    /// Throws `NullPointerException` if a component is null.
    public Place {
      Objects.requireNonNull(executor, "executor");
      Objects.requireNonNull(host, "host");
    }
  }

  /// Returns this rank's membership in the job; borrowed. The task closes it.
  public Weft weft() {
    return weft;
  }

  /// Returns the rank, which is the number of the partition.
  public int rank() {
    return weft.rank();
  }

  /// Returns the number of ranks.
  public int size() {
    return weft.size();
  }

  /// Returns the rows of this rank's partition, which can be read once, on the task's thread.
  public Iterator<T> partition() {
    return partition;
  }

  /// Returns the executor and the attempt of this rank. When Spark has lost an executor, it runs
  /// all ranks again with the next attempt.
  public Place place() {
    return place;
  }

  /// Returns the progress of this rank, by which the program tells the driver its steps.
  public RankProgress progress() {
    return progress;
  }
}
