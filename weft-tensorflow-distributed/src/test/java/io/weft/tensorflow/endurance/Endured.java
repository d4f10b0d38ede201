// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.endurance;

/// The work of a worker in every step. One thread.
sealed interface Endured extends AutoCloseable permits SmallTensors, Cancellations {

  /// Runs a step. Throws `IllegalStateException` if a result is wrong.
  void step(int number) throws InterruptedException;

  /// Returns a summary of the run. Throws `IllegalStateException` if the run has tested nothing.
  String summary();

  @Override
  void close();
}
