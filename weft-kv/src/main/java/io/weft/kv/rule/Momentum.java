// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// Gradient descent with momentum, by TensorFlow's definition: `m = momentum * m + gradient`, then
/// `value -= lr * m`, or by Nesterov's look-ahead `value -= lr * (gradient + momentum * m)`
/// [SUTSKEVER13 §2].
///
/// @param lr the learning rate
/// @param momentum the decay rate of `m`
/// @param nesterov true for the look-ahead
record Momentum(float lr, float momentum, boolean nesterov) implements UpdateRule {

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
    int n = rows * width;
    for (int i = 0; i < n; i++) {
      m[i] = m[i] * momentum + gradient[i];
    }
    if (nesterov) {
      for (int i = 0; i < n; i++) {
        values[i] -= rate * (gradient[i] + momentum * m[i]);
      }
    } else {
      for (int i = 0; i < n; i++) {
        values[i] -= rate * m[i];
      }
    }
  }
}
