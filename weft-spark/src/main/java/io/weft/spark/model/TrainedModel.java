// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.model;

import java.io.Serializable;
import java.util.Optional;
import java.util.SortedMap;

/// A trained model as files in memory, by which Spark carries it to executors and to its file
/// systems. Immutable.
public interface TrainedModel extends Serializable {

  /// Returns the contents of the files by their names; not to be changed. Names may have a
  /// directory, such as `variables/variables.index`.
  SortedMap<String, byte[]> files();

  /// Returns the factory that is needed to load the files again; empty if they suffice.
  Optional<ModelFactory> factory();

  /// Loads the model in this process. The caller closes it.
  LoadedModel load();

  /// A model in the memory of this process. Thread-safe.
  interface LoadedModel extends AutoCloseable {

    /// Returns the outputs for a batch, row after row, equally many for each. Throws
    /// `IllegalArgumentException` if the model was trained with another number of features.
    ///
    /// @param features the features, row after row
    /// @param rows the number of rows, at least 1
    float[] outputs(float[] features, int rows);

    @Override
    void close();
  }
}
