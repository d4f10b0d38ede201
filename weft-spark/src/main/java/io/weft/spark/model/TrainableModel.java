// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.model;

import java.io.IOException;
import java.nio.file.Path;

/// A model in training on one rank. All ranks call `create`, `broadcast`, `step` and `endEpoch` in
/// the same order, except that a rank may have fewer steps in an epoch. One thread.
public interface TrainableModel extends AutoCloseable {

  /// Takes a step. Its gradient is that of the sum of the losses of all ranks' rows, each
  /// multiplied by its weight, divided by `ModelInput.batchSize` times the number of ranks. Ranks
  /// that have ended their epoch contribute zeros.
  ///
  /// @return the sum of the losses of this rank's rows, each multiplied by its weight
  double step(RowBatch batch) throws InterruptedException;

  /// Waits until all ranks have ended their epoch, and takes the values of the rank that ended
  /// last.
  void endEpoch() throws InterruptedException;

  /// Takes the values of rank `root`. Collective.
  void broadcast(int root) throws InterruptedException;

  /// Writes all values into files of an existing, empty directory.
  void save(Path directory) throws IOException;

  /// Reads values that `save` has written.
  void restore(Path directory) throws IOException;

  /// Returns a fingerprint of all values, by which ranks and trainings can be compared.
  String digest();

  /// Returns the trained model, for predictions.
  TrainedModel trained() throws IOException;

  @Override
  void close();
}
