// SPDX-License-Identifier: Apache-2.0
package com.example.digits;

import java.util.Map;
import java.util.stream.IntStream;
import org.tensorflow.Result;
import org.tensorflow.SavedModelBundle;
import org.tensorflow.Tensor;
import org.tensorflow.types.TFloat32;

/// A program that classifies new digits with the model in the directory of its argument. It needs
/// only TensorFlow.
final class Predict {

  private static final int FIRST = 1_000_000;
  private static final int COUNT = 200;

  private Predict() {}

  public static void main(String[] arguments) {
    int[] indices = IntStream.range(FIRST, FIRST + COUNT).toArray();
    try (SavedModelBundle model = SavedModelBundle.load(arguments[0]);
        TFloat32 images = Digits.images(indices);
        Result result =
            model.function("serving_default").call(Map.<String, Tensor>of("images", images))) {
      TFloat32 probabilities = (TFloat32) result.get("probabilities").orElseThrow();
      long right =
          IntStream.range(0, COUNT)
              .filter(row -> likeliest(probabilities, row) == Digits.label(indices[row]))
              .count();
      System.out.println("read " + right + " of " + COUNT + " digits");
    }
  }

  private static int likeliest(TFloat32 probabilities, int row) {
    int best = 0;
    for (int c = 1; c < Digits.CLASSES; c++) {
      best = probabilities.getFloat(row, c) > probabilities.getFloat(row, best) ? c : best;
    }
    return best;
  }
}
