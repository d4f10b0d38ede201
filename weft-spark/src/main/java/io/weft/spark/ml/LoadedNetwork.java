// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.spark.model.TrainedModel.LoadedModel;
import java.util.Map;
import java.util.Objects;
import org.tensorflow.Result;
import org.tensorflow.SavedModelBundle;
import org.tensorflow.Signature;
import org.tensorflow.Signature.TensorDescription;
import org.tensorflow.types.TFloat32;

/// A trained network in TensorFlow. Owned.
///
/// @param bundle the SavedModel; owned
record LoadedNetwork(SavedModelBundle bundle) implements LoadedModel {

  @Override
  public float[] outputs(float[] features, int rows) {
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

  @Override
  public void close() {
    bundle.close();
  }
}
