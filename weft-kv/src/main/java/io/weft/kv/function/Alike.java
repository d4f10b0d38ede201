// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

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
        || !second.spec().slicer().text().equals(shard.spec().slicer().text())) {
      throw new IllegalArgumentException(
          "table '" + name + "' is of another kind, width or slicer");
    }
    return second;
  }
}
