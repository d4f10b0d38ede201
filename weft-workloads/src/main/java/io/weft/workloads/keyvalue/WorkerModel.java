// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.kv.KvWorker;
import io.weft.kv.spec.TableCounts;
import io.weft.workloads.data.Examples;
import io.weft.workloads.parameterserver.ServedTraining;
import io.weft.workloads.training.RankNetwork;
import java.util.OptionalLong;

/// A worker's network whose weights are on servers. Confined to one thread.
public interface WorkerModel extends RankNetwork {

  /// Waits until all pushes have completed.
  void flush() throws InterruptedException;

  /// Returns the counts of requests.
  TableCounts counts();

  /// Returns the time for which steps waited for the servers while nothing was computed; empty if
  /// unknown.
  default OptionalLong exposedNanos() {
    return OptionalLong.empty();
  }

  /// Pulls the final weights, after all workers have completed their steps.
  void finish() throws InterruptedException;

  /// A maker of a worker's model.
  @FunctionalInterface
  interface Factory {

    /// Registers the model's tables and returns the model. Every worker must call it.
    ///
    /// @param mine the worker's examples
    /// @param width examples of a step
    WorkerModel model(ServedTraining training, KvWorker store, Examples mine, int width)
        throws InterruptedException;
  }
}
