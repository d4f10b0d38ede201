// SPDX-License-Identifier: Apache-2.0
package examples;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.weft.Weft;
import io.weft.dataparallel.local.LocalSgd;
import io.weft.dataparallel.local.LocalSgdOptions;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Random;

/// Fits a line by local SGD, for slow networks. Each process trains on its own points, and every
/// ten steps the processes exchange the changes of their weights. On two processes:
///
/// ```
/// ./weft run -np 2 -- ./weft java examples/LocalTraining.java
/// ```
final class LocalTraining {

  private static final int STEPS = 2000;
  private static final int EVERY = 10;
  private static final int POINTS = 32;
  private static final float RATE = 0.1f;

  private LocalTraining() {}

  static void main() throws InterruptedException {
    try (Weft weft = Weft.init();
        Arena arena = Arena.ofShared()) {
      TensorView slope = new TensorView(DType.FLOAT32, Shape.of(1), arena.allocate(JAVA_FLOAT));
      TensorView offset = new TensorView(DType.FLOAT32, Shape.of(1), arena.allocate(JAVA_FLOAT));
      var weights = new LinkedHashMap<String, TensorView>();
      weights.put("slope", slope);
      weights.put("offset", offset);
      var local = new LocalSgd(weft.communicator(), LocalSgdOptions.every(EVERY), weights);

      Random random = new Random(weft.rank());
      for (int step = 0; step < STEPS; step++) {
        descend(slope, offset, random);
        local.step();
      }
      local.synchronize();
      System.out.printf(
          Locale.ROOT,
          "rank %d: y = %.2f x + %.2f, %d steps, %d exchanges%n",
          weft.rank(),
          slope.data().get(JAVA_FLOAT, 0),
          offset.data().get(JAVA_FLOAT, 0),
          local.steps(),
          local.outerSteps());
    }
  }

  /// Makes one step of gradient descent on points of y = 3x + 2.
  private static void descend(TensorView slope, TensorView offset, Random random) {
    float a = slope.data().get(JAVA_FLOAT, 0);
    float b = offset.data().get(JAVA_FLOAT, 0);
    float slopeGradient = 0;
    float offsetGradient = 0;
    for (int i = 0; i < POINTS; i++) {
      float x = 2 * random.nextFloat() - 1;
      float error = a * x + b - (3 * x + 2);
      slopeGradient += 2 * error * x / POINTS;
      offsetGradient += 2 * error / POINTS;
    }
    slope.data().set(JAVA_FLOAT, 0, a - RATE * slopeGradient);
    offset.data().set(JAVA_FLOAT, 0, b - RATE * offsetGradient);
  }
}
