// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

/// The tree in which contributions are added, equal for every element wherever it lies: a complete
/// binary tree over the contributions in order, with the deepest leaves first. Five contributions
/// are added as `((0 + 1) + 2) + (3 + 4)`. Each leaf may itself be such a tree. The tree of twice
/// the number of contributions adds neighbours first, and continues as the original tree. Pure.
public final class AdditionOrder {

  private AdditionOrder() {}

  /// Returns the number of leaves below the left child of a tree with this many leaves, at least 2.
  public static int left(int leaves) {
    int full = Integer.highestOneBit(leaves);
    if (leaves == full) {
      return full / 2;
    }
    return leaves >= full + full / 2 ? full : leaves - full / 2;
  }

  /// Returns the length of the longest path from the root of a tree with this many leaves to a
  /// leaf.
  public static int depth(int leaves) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(leaves - 1);
  }
}
