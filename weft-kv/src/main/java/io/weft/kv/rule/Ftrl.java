// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// FTRL-Proximal [MCMAHAN13 §3], by TensorFlow's definition with a learning rate power of -0.5: `n'
/// = n + gradient²`, `z += gradient - (sqrt(n') - sqrt(n)) / lr * value`, and `value` becomes 0
/// where `|z| <= l1`, else `(sign(z) * l1 - z) / (sqrt(n') / lr + 2 * l2)`.
///
/// @param lr the learning rate, above 0
/// @param init the initial value of `n`, above 0
/// @param l1 strength of the L1 term
/// @param l2 strength of the L2 term
record Ftrl(float lr, float init, float l1, float l2) implements UpdateRule {

  @Override
  public int slots() {
    return 2;
  }

  @Override
  public float initialSlot(int slot) {
    return slot == 0 ? init : 0;
  }

  @Override
  public float rate(long step) {
    return lr;
  }

  @Override
  public void apply(UpdateTile tile, int rows, int width, float rate) {
    float[] values = tile.values();
    float[] gradient = tile.gradient();
    float[] n = tile.slot(0);
    float[] z = tile.slot(1);
    int elements = rows * width;
    for (int i = 0; i < elements; i++) {
      float g = gradient[i];
      float sum = n[i] + g * g;
      float root = (float) Math.sqrt(sum);
      float linear = z[i] + (g - (root - (float) Math.sqrt(n[i])) / rate * values[i]);
      n[i] = sum;
      z[i] = linear;
      // linear - clamp(linear): without a branch, so that the JIT vectorizes the loop
      float beyond = linear - Math.max(-l1, Math.min(l1, linear));
      values[i] = -beyond / (root / rate + 2 * l2);
    }
  }
}
