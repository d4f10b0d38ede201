// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// Adds the pushed values.
record Sum() implements UpdateRule {

  @Override
  public int slots() {
    return 0;
  }

  @Override
  public float rate(long step) {
    return 1;
  }

  @Override
  public void apply(UpdateTile tile, int rows, int width, float rate) {
    float[] values = tile.values();
    float[] gradient = tile.gradient();
    int n = rows * width;
    for (int i = 0; i < n; i++) {
      values[i] += gradient[i];
    }
  }
}
