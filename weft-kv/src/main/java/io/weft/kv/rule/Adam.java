// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// Adam in the form that the end of [KINGMA15 §2] gives, as TensorFlow defines it, where `t` counts
/// the updates of the table, not those of a row: `m += (gradient - m) * (1 - beta1)`, `v +=
/// (gradient² - v) * (1 - beta2)`, and `value -= lr * sqrt(1 - beta2^t) / (1 - beta1^t) * m /
/// (sqrt(v) + eps)`. With weight decay, the value is first multiplied by `1 - lr * decay`, apart
/// from the gradient, as TensorFlow's AdamW does.
///
/// @param lr the learning rate
/// @param beta1 the decay rate of `m`
/// @param beta2 the decay rate of `v`
/// @param eps epsilon
/// @param decay the weight decay; 0 for none
record Adam(float lr, float beta1, float beta2, float eps, float decay) implements UpdateRule {

  @Override
  public int slots() {
    return 2;
  }

  @Override
  public boolean countsSteps() {
    return true;
  }

  @Override
  public float rate(long step) {
    if (step < 1) {
      throw new IllegalArgumentException("Adam: step " + step + ", but the first one is 1");
    }
    double corrected = Math.sqrt(1 - StrictMath.pow(beta2, (double) step));
    return (float) (lr * corrected / (1 - StrictMath.pow(beta1, (double) step)));
  }

  @Override
  public void apply(UpdateTile tile, int rows, int width, float rate) {
    float[] values = tile.values();
    float[] gradient = tile.gradient();
    float[] m = tile.slot(0);
    float[] v = tile.slot(1);
    float first = 1 - beta1;
    float second = 1 - beta2;
    float kept = 1 - lr * decay;
    int n = rows * width;
    for (int i = 0; i < n; i++) {
      float g = gradient[i];
      float mean = m[i] + (g - m[i]) * first;
      float square = v[i] + (g * g - v[i]) * second;
      m[i] = mean;
      v[i] = square;
      values[i] = values[i] * kept - rate * mean / ((float) Math.sqrt(square) + eps);
    }
  }
}
