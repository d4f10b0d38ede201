// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// Stochastic gradient descent: `value -= lr * gradient`.
///
/// @param lr the learning rate
record Sgd(float lr) implements UpdateRule {

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
    int n = rows * width;
    for (int i = 0; i < n; i++) {
      values[i] -= rate * gradient[i];
    }
  }
}
