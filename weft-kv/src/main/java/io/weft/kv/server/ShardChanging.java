// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.frame.KvCall;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.ShardChanges;
import io.weft.kv.function.ShardValues;
import io.weft.kv.server.ShardTable.How;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.table.MemoryBudgetException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// A change's view of a table on one shard, which it may modify. Confined to the shard's thread.
final class ShardChanging implements ShardChanges {

  private final ShardTable table;
  private final ShardView view;

  ShardChanging(ShardTable table, ShardTables tables) {
    this.table = table;
    this.view = new ShardView(table, tables);
  }

  /// Runs a change. Throws `Refusal` with the message of a thrown exception.
  void run(KvChange change, KvCall call) throws Refusal {
    table.beginChange();
    try {
      change.run(this, call.argument());
    } catch (MemoryBudgetException | IllegalArgumentException | IllegalStateException failed) {
      throw new Refusal("change '" + call.name() + "' failed: " + failed.getMessage());
    } catch (RuntimeException failed) {
      throw new Refusal("change '" + call.name() + "' failed: " + failed);
    }
  }

  @Override
  public TableSpec spec() {
    return view.spec();
  }

  @Override
  public void forEach(ValuesVisitor visitor) {
    view.forEach(visitor);
  }

  @Override
  public Optional<ShardValues> table(String name) {
    Optional<ShardValues> other = view.table(name);
    if (other.isPresent() && other.get().spec().consistency().isSynchronous()) {
      // A checkpoint may hold clocks of that table here but not on the mirror.
      throw new IllegalArgumentException(
          "table '" + name + "' is synchronous; a change reads bounded and asynchronous tables");
    }
    return other;
  }

  @Override
  public void assign(long at, MemorySegment values) {
    table.put(at, values, How.ASSIGN);
  }

  @Override
  public void add(long at, MemorySegment values) {
    table.put(at, values, How.ADD);
  }
}
