// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// Stochastic gradient descent: `value -= lr * gradient`. With weight decay, the value is first
/// multiplied by `1 - lr * decay`.
///
/// @param lr the learning rate
/// @param decay the weight decay; 0 for none
record Sgd(float lr, float decay) implements UpdateRule {

  @Override
  public int slots() {
    return 0;
  }

  @Override
  public float rate(long step) {
    return lr;
  }

  @Override
  public void apply(UpdateTile tile, int rows, int width, float rate) {
    float[] values = tile.values();
    float[] gradient = tile.gradient();
    float kept = 1 - lr * decay;
    int n = rows * width;
    for (int i = 0; i < n; i++) {
      values[i] = values[i] * kept - rate * gradient[i];
    }
  }
}
