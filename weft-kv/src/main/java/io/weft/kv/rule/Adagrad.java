// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// Adagrad [DUCHI11 §1.1], by TensorFlow's definition, which adds epsilon to the root: `a +=
/// gradient²`, `value -= lr * gradient / (sqrt(a) + eps)`.
///
/// @param lr the learning rate
/// @param init the initial value of `a`
/// @param eps epsilon
record Adagrad(float lr, float init, float eps) implements UpdateRule {

  @Override
  public int slots() {
    return 1;
  }

  @Override
  public float initialSlot(int slot) {
    return init;
  }

  @Override
  public float rate(long step) {
    return lr;
  }

  @Override
  public void apply(UpdateTile tile, int rows, int width, float rate) {
    float[] values = tile.values();
    float[] gradient = tile.gradient();
    float[] a = tile.slot(0);
    int n = rows * width;
    for (int i = 0; i < n; i++) {
      float sum = a[i] + gradient[i] * gradient[i];
      a[i] = sum;
      values[i] -= rate * gradient[i] / ((float) Math.sqrt(sum) + eps);
    }
  }
}
