// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

import io.weft.kv.spec.Slicer;

/// The check that a second table is sliced like the first, so that matching rows are on the same
/// shard.
final class CoPartitioning {

  private CoPartitioning() {}

  /// Returns the table of this name. Throws `IllegalArgumentException` if it does not exist, or has
  /// another kind, width or slicer.
  static ShardValues table(ShardValues shard, String name) {
    ShardValues second =
        shard
            .table(name)
            .orElseThrow(() -> new IllegalArgumentException("unknown table '" + name + "'"));
    if (second.spec().kind() != shard.spec().kind()
        || second.spec().width() != shard.spec().width()
        || !isCutAlike(second.spec().slicer(), shard.spec().slicer())) {
      throw new IllegalArgumentException(
          "table '" + name + "' is of another kind, width or slicer");
    }
    return second;
  }

  /// The placement of the parts of tensors is checked when the second one is looked up.
  private static boolean isCutAlike(Slicer one, Slicer other) {
    if (one instanceof Slicer.Parts parts && other instanceof Slicer.Parts others) {
      return parts.elements() == others.elements();
    }
    return one.text().equals(other.text());
  }
}
