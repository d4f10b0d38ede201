// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// Gradient descent with momentum, by TensorFlow's definition: `m = momentum * m + gradient`, then
/// `value -= lr * m`, or by Nesterov's look-ahead `value -= lr * (gradient + momentum * m)`
/// [SUTSKEVER13 §2]. With weight decay, the value is first multiplied by `1 - lr * decay`, apart
/// from the gradient, as by TensorFlow.
///
/// @param lr the learning rate
/// @param momentum the decay rate of `m`
/// @param nesterov true for the look-ahead
/// @param decay the weight decay; 0 for none
record Momentum(float lr, float momentum, boolean nesterov, float decay) implements UpdateRule {

  @Override
  public int slots() {
    return 1;
  }

  @Override
  public float rate(long step) {
    return lr;
  }

  @Override
  public void apply(UpdateTile tile, int rows, int width, float rate) {
    float[] values = tile.values();
    float[] gradient = tile.gradient();
    float[] m = tile.slot(0);
    float kept = 1 - lr * decay;
    int n = rows * width;
    for (int i = 0; i < n; i++) {
      m[i] = m[i] * momentum + gradient[i];
    }
    if (nesterov) {
      for (int i = 0; i < n; i++) {
        values[i] = values[i] * kept - rate * (gradient[i] + momentum * m[i]);
      }
    } else {
      for (int i = 0; i < n; i++) {
        values[i] = values[i] * kept - rate * m[i];
      }
    }
  }
}
