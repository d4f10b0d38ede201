// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// A rule whose gradients are clipped first: each element to at most `limit` in magnitude, as by
/// TensorFlow's `clipvalue`. In a synchronous table the sum of all workers' gradients is clipped.
///
/// @param rule applied to the clipped gradient
/// @param limit above 0
record Clipped(UpdateRule rule, float limit) implements UpdateRule {

  @Override
  public int slots() {
    return rule.slots();
  }

  @Override
  public int rowSlots() {
    return rule.rowSlots();
  }

  @Override
  public float initialSlot(int slot) {
    return rule.initialSlot(slot);
  }

  @Override
  public boolean countsSteps() {
    return rule.countsSteps();
  }

  @Override
  public float rate(long step) {
    return rule.rate(step);
  }

  @Override
  public void apply(UpdateTile tile, int rows, int width, float rate) {
    float[] gradient = tile.gradient();
    int n = rows * width;
    for (int i = 0; i < n; i++) {
      gradient[i] = Math.max(-limit, Math.min(limit, gradient[i]));
    }
    rule.apply(tile, rows, width, rate);
  }
}
