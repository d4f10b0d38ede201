// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.tensorflow.natives.TensorFlowLibraries;
import java.io.Serial;
import java.io.Serializable;
import java.lang.ref.Cleaner;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tensorflow.Result;
import org.tensorflow.SavedModelBundle;
import org.tensorflow.Signature;
import org.tensorflow.Signature.TensorDescription;
import org.tensorflow.types.TFloat32;

/// A trained network that computes predictions in this process. Spark broadcasts it, so that all
/// tasks of an executor use one copy, which the first of them loads. Thread-safe. TensorFlow's
/// memory is released when Spark has dropped the copy.
final class Predictor implements Serializable {

  @Serial private static final long serialVersionUID = 1L;
  private static final Cleaner CLEANER = Cleaner.create();

  private final SavedNetwork network;
  private transient @Nullable SavedModelBundle loaded;

  Predictor(SavedNetwork network) {
    this.network = network;
  }

  private synchronized SavedModelBundle bundle() {
    SavedModelBundle bundle = loaded;
    if (bundle == null) {
      String version = TensorFlowLibraries.load();
      assert !version.isEmpty();
      bundle = network.load();
      loaded = bundle;
      SavedModelBundle owned = bundle;
      var unused = CLEANER.register(this, owned::close);
    }
    return bundle;
  }

  /// Returns the outputs for a batch, row after row.
  ///
  /// @param features the features, row after row
  /// @param rows the number of rows, at least 1
  float[] outputs(float[] features, int rows) {
    SavedModelBundle bundle = bundle();
    Signature signature = bundle.function(Signature.DEFAULT_KEY).signature();
    TensorDescription input = end(signature.getInputs(), SavedNetwork.INPUT);
    TensorDescription output = end(signature.getOutputs(), SavedNetwork.OUTPUT);
    int width = features.length / rows;
    long expected = input.shape.get(1);
    if (width != expected) {
      throw new IllegalArgumentException(
          "rows have %d features, but the network was trained with %d".formatted(width, expected));
    }
    try (TFloat32 x = Batches.tensor(features, rows, width);
        Result result = bundle.session().runner().feed(input.name, x).fetch(output.name).run()) {
      TFloat32 values = (TFloat32) result.get(0);
      float[] outputs = new float[(int) values.size()];
      values.asRawTensor().data().asFloats().read(outputs);
      return outputs;
    }
  }

  private static TensorDescription end(Map<String, TensorDescription> ends, String name) {
    return Objects.requireNonNull(ends.get(name), name);
  }
}
