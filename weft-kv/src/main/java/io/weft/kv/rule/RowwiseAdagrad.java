// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// Adagrad with one accumulator per row, as used for embedding tables (MUDIGERE22): `a` grows by
/// the mean of the squares of the row's gradient; `value -= lr * gradient / (sqrt(a) + eps)`.
///
/// @param lr the learning rate
/// @param init the initial value of `a`
/// @param eps epsilon
record RowwiseAdagrad(float lr, float init, float eps) implements UpdateRule {

  @Override
  public int slots() {
    return 0;
  }

  @Override
  public int rowSlots() {
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
    float[] a = tile.rowSlot(0);
    for (int row = 0; row < rows; row++) {
      int first = row * width;
      int end = first + width;
      float squares = 0; // added in order, because the JIT must not reorder float additions
      for (int i = first; i < end; i++) {
        squares += gradient[i] * gradient[i];
      }
      float sum = a[row] + squares / width;
      a[row] = sum;
      float factor = rate / ((float) Math.sqrt(sum) + eps);
      for (int i = first; i < end; i++) {
        values[i] -= factor * gradient[i];
      }
    }
  }
}
