// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.spark.model.TrainedModel;
import io.weft.spark.model.TrainedModel.LoadedModel;
import java.io.Serial;
import java.io.Serializable;
import java.lang.ref.Cleaner;
import org.jspecify.annotations.Nullable;

/// A trained model that computes predictions in this process. Spark broadcasts it, so that all
/// tasks of an executor use one copy, which the first of them loads. Thread-safe. The memory of the
/// model's library is released when Spark has dropped the copy.
final class Predictor implements Serializable {

  @Serial private static final long serialVersionUID = 1L;
  private static final Cleaner CLEANER = Cleaner.create();

  private final TrainedModel model;
  private transient @Nullable LoadedModel loaded;

  Predictor(TrainedModel model) {
    this.model = model;
  }

  private synchronized LoadedModel loaded() {
    LoadedModel found = loaded;
    if (found == null) {
      found = model.load();
      loaded = found;
      LoadedModel owned = found;
      var unused = CLEANER.register(this, owned::close);
    }
    return found;
  }

  /// Returns the outputs for a batch, row after row.
  float[] outputs(float[] features, int rows) {
    return loaded().outputs(features, rows);
  }
}
