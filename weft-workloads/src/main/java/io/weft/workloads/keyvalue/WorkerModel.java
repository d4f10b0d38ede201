// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.kv.spec.TableCounts;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;

/// A worker's model whose weights are on servers. It takes steps and evaluates examples. Confined
/// to one thread.
interface WorkerModel extends AutoCloseable {

  /// Returns the number of weights and biases.
  long parameters();

  /// Takes a step on this worker's examples from `order[from]` on. Returns the loss, summed over
  /// these examples.
  ///
  /// @param scale the factor by which the gradients of the sum are multiplied
  double step(int[] order, int from, float scale) throws InterruptedException;

  /// Waits until all pushes have completed.
  void flush() throws InterruptedException;

  /// Returns the counts of requests.
  TableCounts counts();

  /// Pulls the final weights, after all workers have completed their steps.
  void finish() throws InterruptedException;

  /// Evaluates examples without training on them.
  Evaluation evaluate(Examples examples) throws InterruptedException;

  /// Returns a fingerprint of the weights of the dense layers.
  String digest();

  @Override
  void close();
}
