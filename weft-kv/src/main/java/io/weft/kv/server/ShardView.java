// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.frame.KvCall;
import io.weft.kv.function.KvFunction;
import io.weft.kv.function.ShardValues;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;

/// What a function sees of a table on one shard. Confined to the shard's thread.
record ShardView(ShardTable table, ShardTables tables) implements ShardValues {

  /// Runs the function that is called. Throws `Refusal` with what is wrong, also of what it throws.
  MemorySegment call(KvCall call, Map<String, KvFunction<?>> functions) throws Refusal {
    KvFunction<?> function = functions.get(call.name());
    if (function == null) {
      throw new Refusal(
          "there is no function '%s'; servers know %s; KvOptions.withFunction adds others"
              .formatted(call.name(), functions.keySet().stream().sorted().toList()));
    }
    byte[] result;
    try {
      result = function.run(this, call.argument());
    } catch (RuntimeException failed) {
      throw new Refusal("function '" + call.name() + "' failed: " + failed.getMessage());
    }
    if (result.length > KvFunction.MOST_BYTES) {
      throw new Refusal(
          "function '%s' has a result of %d bytes; at most %d"
              .formatted(call.name(), result.length, KvFunction.MOST_BYTES));
    }
    return MemorySegment.ofArray(result);
  }

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
        .map(it -> new ShardView(it, tables));
  }
}
