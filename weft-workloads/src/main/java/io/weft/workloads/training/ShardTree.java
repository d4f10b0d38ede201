// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

/// In which turn the shards of a rank are computed, so that neighbours in time are added first.
/// Pure.
final class ShardTree {

  private ShardTree() {}

  /// Which of a rank's shards has this turn: the turn's bits in reverse order.
  ///
  /// @param shards of the rank, a power of two
  static int shard(int turn, int shards) {
    return shards == 1 ? 0 : Integer.reverse(turn) >>> (Integer.numberOfLeadingZeros(shards) + 1);
  }

  /// The sum of numbers in order of turn, in the tree in which gradients are added. Changes the
  /// array.
  static double sum(double[] byTurn) {
    for (int count = byTurn.length / 2; count >= 1; count /= 2) {
      for (int i = 0; i < count; i++) {
        byTurn[i] = byTurn[2 * i] + byTurn[2 * i + 1];
      }
    }
    return byTurn[0];
  }
}
