// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

import io.weft.kv.spec.Slicer;

/// A second table, of whose shards the same has what belongs together.
final class Alike {

  private Alike() {}

  /// The table of this name. Throws `IllegalArgumentException` if there is none, or one of another
  /// kind, width or slicer.
  static ShardValues table(ShardValues shard, String name) {
    ShardValues second =
        shard
            .table(name)
            .orElseThrow(() -> new IllegalArgumentException("there is no table '" + name + "'"));
    if (second.spec().kind() != shard.spec().kind()
        || second.spec().width() != shard.spec().width()
        || !isCutAlike(second.spec().slicer(), shard.spec().slicer())) {
      throw new IllegalArgumentException(
          "table '" + name + "' is of another kind, width or slicer");
    }
    return second;
  }

  /// Where the parts of tensors lie is looked at when the second one is asked for.
  private static boolean isCutAlike(Slicer one, Slicer other) {
    if (one instanceof Slicer.Parts parts && other instanceof Slicer.Parts others) {
      return parts.elements() == others.elements();
    }
    return one.text().equals(other.text());
  }
}
