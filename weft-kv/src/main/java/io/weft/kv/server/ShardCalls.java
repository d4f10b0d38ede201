// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.frame.KvCall;
import io.weft.kv.frame.KvReply;
import io.weft.kv.function.KvChange;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The functions and changes that workers call on a shard. Confined to the shard's thread.
final class ShardCalls {

  private final ShardContext context;
  private final ShardTables tables;

  ShardCalls(ShardContext context, ShardTables tables) {
    this.context = context;
    this.tables = tables;
  }

  private static KvCall called(Pending it) throws Refusal {
    try {
      return KvCall.read(it.payload());
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
  }

  /// Runs a function and answers with its result.
  void call(Pending it) throws Refusal {
    ShardTable table = tables.of(it.head());
    KvCall call = called(it);
    begin(it, table, "function", call);
    MemorySegment result;
    try {
      result = context.functions().call(call, new ShardView(table, tables));
    } finally {
      context.states().end(it.head().shard());
    }
    it.reply(KvReply.done(0, result).encode());
  }

  /// Records a running function or change, for requests that wait behind it.
  private void begin(Pending it, ShardTable table, String kind, KvCall call) {
    int shard = it.head().shard();
    context
        .states()
        .begin(
            new ShardStates.Call(
                shard,
                "%s '%s' on table '%s', called by rank %d"
                    .formatted(
                        kind, call.name(), table.spec().name(), context.workers().get(it.worker())),
                context.mirroring().channel().runner().nanos()));
  }

  /// Throws `Refusal` for a change that cannot be run, before its number is used.
  void checkChange(Pending it, ShardTable table) throws Refusal {
    if (table.spec().consistency().isSynchronous()) {
      throw new Refusal(
          "its table is synchronous: its clocks are the pushes of all workers; changes are for"
              + " bounded and asynchronous tables");
    }
    KvChange unused = context.functions().change(called(it));
  }

  /// Runs a change. Returns the reason of its failure, or null. The mirror runs it too, even if it
  /// fails, so that both servers have equal values.
  @Nullable String change(Pending it, ShardTable table) throws Refusal {
    table.changed();
    KvCall call = called(it);
    KvChange change = context.functions().change(call);
    begin(it, table, "change", call);
    try {
      new ShardChanging(table, tables).run(change, call);
      return null;
    } catch (Refusal why) {
      return String.valueOf(why.getMessage());
    } finally {
      context.states().end(it.head().shard());
    }
  }
}
