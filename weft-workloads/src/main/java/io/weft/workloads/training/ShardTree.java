// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

/// The tree in which a rank adds the results of its shards: neighbours first. Pure.
final class ShardTree {

  private ShardTree() {}

  /// Returns the sum of numbers in the tree in which gradients are added. Changes the array.
  ///
  /// @param byTurn in the order of shards; the length must be a power of two
  static double sum(double[] byTurn) {
    for (int count = byTurn.length / 2; count >= 1; count /= 2) {
      for (int i = 0; i < count; i++) {
        byTurn[i] = byTurn[2 * i] + byTurn[2 * i + 1];
      }
    }
    return byTurn[0];
  }
}
