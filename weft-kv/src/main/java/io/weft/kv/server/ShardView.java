// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.function.ShardValues;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TensorParts;
import java.util.Optional;

/// A function's view of a table on one shard. Confined to the shard's thread.
record ShardView(ShardTable table, ShardTables tables) implements ShardValues {

  @Override
  public TableSpec spec() {
    return table.spec();
  }

  @Override
  public void forEach(ValuesVisitor visitor) {
    table.forEach(visitor);
  }

  @Override
  public Optional<ShardValues> table(String name) {
    return tables.all().stream()
        .filter(it -> it.spec().name().equals(name))
        .findFirst()
        .map(this::coLocated);
  }

  /// Returns a view of another table. Throws `IllegalArgumentException` if both are tensors whose
  /// parts are on different shards.
  private ShardView coLocated(ShardTable other) {
    if (spec().kind() == TableSpec.Kind.TENSOR && other.spec().kind() == TableSpec.Kind.TENSOR) {
      int shards = table.context().shards();
      int mine = TensorParts.of(spec()).shard(0, shards);
      int its = TensorParts.of(other.spec()).shard(0, shards);
      if (mine != its) {
        throw new IllegalArgumentException(
            "the parts of tensor '%s' lie on other shards than those of '%s'; register one with Slicer.parts(n).coLocatedWith the other"
                .formatted(other.spec().name(), spec().name()));
      }
    }
    return new ShardView(other, tables);
  }
}
