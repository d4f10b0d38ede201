// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.kv.rule.RuleSchedule;
import io.weft.kv.spec.TableSpec;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The tables of a shard with their received pushes, checkpoints and answers, which every role of
/// this server uses. Confined to the shard's thread.
final class ShardContent {

  private static final Logger LOG = LoggerFactory.getLogger(ShardContent.class);

  private final int shard;
  private final ShardContext context;
  private final ShardTables tables;
  private final ShardPushes pushes;
  private final ShardSaves saves;
  private final ShardCalls calls;
  private final ShardAnswers answers;
  private final Consumer<ShardTable> ended;

  /// @param wake is called from any thread when memory of answers has become free
  /// @param ended is notified of a table that has ended
  ShardContent(int shard, ShardContext context, Runnable wake, Consumer<ShardTable> ended) {
    this.shard = shard;
    this.context = context;
    this.tables = new ShardTables(context);
    this.calls = new ShardCalls(context, tables);
    this.answers = new ShardAnswers(shard, context, tables, wake);
    this.saves = new ShardSaves(shard, context, wake);
    this.pushes = new ShardPushes(context, saves, this::ended);
    this.ended = ended;
  }

  int shard() {
    return shard;
  }

  ShardContext context() {
    return context;
  }

  ShardTables tables() {
    return tables;
  }

  ShardPushes pushes() {
    return pushes;
  }

  ShardSaves saves() {
    return saves;
  }

  ShardCalls calls() {
    return calls;
  }

  ShardAnswers answers() {
    return answers;
  }

  /// Drops the tables and the received pushes.
  void clear() {
    tables.clear();
    pushes.clear();
  }

  /// Advances a worker's clock. Returns the table.
  ShardTable clock(Pending it) throws Refusal {
    ShardTable table = tables.of(it.head());
    table.clocks().advance(it.worker(), it.head().clock());
    return table;
  }

  /// Sets the first values of a tensor's part, if they are from the first worker. Returns whether
  /// the part has its first values.
  boolean init(Pending it) throws Refusal {
    return tables.of(it.head()).init(it);
  }

  /// Changes parameters of a table's update rule.
  void rule(Pending it) throws Refusal {
    ShardTable table = tables.of(it.head());
    if (it.payload().byteSize() > TableSpec.MAX_TEXT_BYTES) {
      throw new Refusal("a change of a rule of " + it.payload().byteSize() + " bytes");
    }
    try {
      String line = new String(it.payload().toArray(JAVA_BYTE), StandardCharsets.UTF_8);
      table.change(RuleSchedule.Change.parse(line), it.head().clock());
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
  }

  /// Returns the table of a change. Throws `Refusal` for a change that cannot be run.
  ShardTable changing(Pending it) throws Refusal {
    ShardTable table = tables.of(it.head());
    calls.checkChange(it, table);
    table.hear(it);
    return table;
  }

  /// Ends a table because a worker's push is only on some of the shards, or another shard has ended
  /// the table.
  void end(Pending it) throws Refusal {
    ShardTable table = tables.known(it.head());
    ShardEnds.end(it, table);
    drop(table);
  }

  /// Drops the requests and pushes that wait for a table that has ended, and notifies the role.
  void ended(ShardTable table) {
    drop(table);
    ended.accept(table);
  }

  private void drop(ShardTable table) {
    pushes.end(table);
    saves.end(table);
  }

  /// Excludes a worker that has left, so that no request waits for it any more.
  void leave(int worker) {
    tables.leave(worker);
    for (ShardTable table : tables.all()) {
      saves.release(table, worker);
      for (PushRounds<KeptPush> rounds : table.allRounds()) {
        try {
          pushes.applyComplete(table, rounds);
        } catch (Refusal | RuntimeException | Error why) {
          LOG.error(
              "shard {} of rank {}, table '{}': pushes were dropped when rank {} left",
              shard,
              context.rank(),
              table.spec().name(),
              context.workers().get(worker),
              why);
        }
      }
    }
  }
}
