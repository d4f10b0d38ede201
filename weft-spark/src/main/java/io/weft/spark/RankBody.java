// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import java.io.Serializable;

/// The program of a rank. Spark serializes it on the driver and runs one copy in each task, so it
/// must not refer to objects that exist on the driver only.
///
/// @param <T> type of the rows of the rank's partition
/// @param <R> type of the result, which must be serializable
@FunctionalInterface
public interface RankBody<T, R extends Serializable> extends Serializable {

  /// Runs on the task's thread and returns this rank's result. An exception ends the job on all
  /// ranks; `WeftSpark.run` then throws a `RankFailedException` that names this rank.
  R run(SparkRank<T> rank) throws Exception;
}
