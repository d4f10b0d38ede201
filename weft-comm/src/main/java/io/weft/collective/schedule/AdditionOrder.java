// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

/// The tree in which contributions are added, the same for every element, wherever it lies: a
/// complete binary tree over the contributions in order, of which the deepest leaves come first.
/// Five are added as `((0 + 1) + 2) + (3 + 4)`. Below it, every leaf may be such a tree of its own:
/// of twice as many contributions, the tree adds neighbours first, and is then that of half as
/// many. Pure.
public final class AdditionOrder {

  private AdditionOrder() {}

  /// Returns how many leaves are below the left child of a tree of so many, at least 2.
  public static int left(int leaves) {
    int full = Integer.highestOneBit(leaves);
    if (leaves == full) {
      return full / 2;
    }
    return leaves >= full + full / 2 ? full : leaves - full / 2;
  }

  /// Returns the length of the longest way from the root of a tree of so many leaves to a leaf.
  public static int depth(int leaves) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(leaves - 1);
  }
}
