// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.kv.spec.TableCounts;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Ranking;

/// The model of a worker, whose weights are on servers: takes steps, and looks at what was learned.
/// One thread.
interface WorkerModel extends AutoCloseable {

  /// Number of weights and biases.
  long parameters();

  /// Takes a step on this worker's examples at `order[from]` and those behind it; the loss, summed
  /// over them.
  ///
  /// @param scale what the gradients of the sum are multiplied by
  double step(int[] order, int from, float scale) throws InterruptedException;

  /// Waits until the servers have all pushes.
  void flush() throws InterruptedException;

  /// What was counted so far.
  TableCounts counts();

  /// All workers have done their steps: takes what the servers have now.
  void finish() throws InterruptedException;

  /// How many examples it names right; ranks them too, where the workload is ranked.
  long judge(Examples examples, Ranking ranking) throws InterruptedException;

  /// Of the weights of the dense layers.
  String digest();

  @Override
  void close();
}
