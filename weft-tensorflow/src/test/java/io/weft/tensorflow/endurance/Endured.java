// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.endurance;

/// What a worker does in every step. One thread.
sealed interface Endured extends AutoCloseable permits SmallTensors, Cancellations {

  /// Throws `IllegalStateException` if a result is wrong.
  void step(int number) throws InterruptedException;

  /// What came to pass, in words. Throws `IllegalStateException` if that shows that nothing was
  /// tried.
  String summary();

  @Override
  void close();
}
