// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// Replaces the values with the pushed ones.
record Assign() implements UpdateRule {

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
    System.arraycopy(tile.gradient(), 0, tile.values(), 0, rows * width);
  }
}
