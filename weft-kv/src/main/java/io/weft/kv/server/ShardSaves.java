// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.kv.checkpoint.Block;
import io.weft.kv.checkpoint.ShardFile;
import io.weft.kv.checkpoint.ShardFile.Content;
import io.weft.kv.checkpoint.ShardFileWriter;
import io.weft.kv.checkpoint.ShardFileWriter.Written;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.rule.RuleSchedule;
import io.weft.kv.spill.RowStoreException;
import io.weft.kv.table.TableSnapshot;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The checkpoints of a shard's tables. Each table is held until all shards are at one clock, cut
/// there, and written in parts between requests. Confined to the shard's thread.
final class ShardSaves {

  private final int shard;
  private final ShardContext context;
  private final Runnable wake;
  private final Map<ShardTable, Held> held = new HashMap<>();
  private final List<Save> open = new ArrayList<>();

  ShardSaves(int shard, ShardContext context, Runnable wake) {
    this.shard = shard;
    this.context = context;
    this.wake = wake;
  }

  /// A table that applies no further clock.
  private static final class Held {
    private final int worker;
    private @Nullable Pending cut;

    Held(int worker) {
      this.worker = worker;
    }
  }

  /// A file that is being written.
  private record Save(ShardTable table, TableSnapshot cut, ShardFileWriter writer) {}

  /// Prevents a synchronous table from applying further clocks until `release` or its cut. Returns
  /// its current clock.
  long hold(ShardTable table, int worker) throws Refusal {
    checkFree(table);
    if (!table.spec().consistency().isSynchronous()) {
      return 0;
    }
    if (held.containsKey(table)) {
      throw new Refusal("another checkpoint has begun; one at a time");
    }
    table.complete(shard);
    held.put(table, new Held(worker));
    long clock = 0;
    for (PushRounds<KeptPush> rounds : table.allRounds()) {
      rounds.holdAt(rounds.applied());
      clock = Math.max(clock, rounds.applied());
    }
    return clock;
  }

  private void checkFree(ShardTable table) throws Refusal {
    if (open.stream().anyMatch(it -> it.table() == table)) {
      throw new Refusal("another checkpoint is being written; one at a time");
    }
  }

  /// Cuts the table when it has applied the clock of the request. The caller must then apply the
  /// waiting clocks.
  void cut(Pending it, ShardTable table) throws Refusal {
    checkFree(table);
    List<String> asked = asked(it);
    if (asked.size() != 3 || !asked.getFirst().startsWith("/")) {
      throw new Refusal("a checkpoint of " + asked.size() + " lines; 3 are file, id and base");
    }
    if (!table.spec().consistency().isSynchronous()) {
      begin(it, table);
      return;
    }
    Held hold = held.get(table);
    if (hold == null || hold.worker != it.worker() || hold.cut != null) {
      throw new Refusal("it is not held for a checkpoint of this worker");
    }
    hold.cut = it;
    for (PushRounds<KeptPush> rounds : table.allRounds()) {
      rounds.holdAt(it.head().clock());
    }
  }

  /// Cuts the table if it has reached the clock of its cut. Returns whether it was cut and resumed.
  boolean reached(ShardTable table) {
    Held hold = held.get(table);
    Pending it = hold == null ? null : hold.cut;
    if (hold == null || it == null) {
      return false;
    }
    for (PushRounds<KeptPush> rounds : table.allRounds()) {
      if (rounds.applied() < it.head().clock()) {
        return false;
      }
    }
    hold.cut = null;
    release(table);
    begin(it, table);
    return true;
  }

  /// Returns whether a table applies no further clock.
  boolean isHeld(ShardTable table) {
    return held.containsKey(table);
  }

  /// Releases a table. A waiting cut is refused.
  private void release(ShardTable table) {
    Held hold = held.remove(table);
    if (hold != null) {
      if (hold.cut != null) {
        hold.cut.reply(KvReply.refused("the checkpoint was given up").encode());
      }
      for (PushRounds<KeptPush> rounds : table.allRounds()) {
        rounds.holdAt(Long.MAX_VALUE);
      }
    }
  }

  /// Releases a table that this worker holds, because the worker has requested it or has left.
  void release(ShardTable table, int worker) {
    Held hold = held.get(table);
    if (hold != null && hold.worker == worker) {
      release(table);
    }
  }

  /// Releases a table that has ended. A waiting cut is refused.
  void end(ShardTable table) {
    release(table);
  }

  private static List<String> asked(Pending it) {
    byte[] words = it.payload().toArray(JAVA_BYTE);
    return List.of(new String(words, StandardCharsets.UTF_8).split("\n", -1));
  }

  private void begin(Pending it, ShardTable table) {
    List<String> asked = asked(it);
    Path file = Path.of(asked.getFirst());
    String id = asked.get(1);
    boolean exports = it.head().op() == KvOp.EXPORT;
    Content content = exports ? Content.FULL : table.contentAfter(asked.get(2));
    long clock = it.head().clock();
    var writer =
        new ShardFileWriter(
            file,
            context.disk().files().executor(),
            new ShardFileWriter.Memory() {
              @Override
              public void reserve(long bytes) {
                context.disk().files().reserve(bytes);
              }

              @Override
              public void release(long bytes) {
                context.disk().files().release(bytes);
                wake.run();
              }
            },
            written -> {
              if (written.failure() == null) {
                context.disk().files().written(file);
              }
              answer(it, table, content, written);
            });
    writer.begin(
        new ShardFile(
            id,
            table.spec().text(),
            shard,
            content,
            table.step(),
            clock,
            table.savedRuleChanges().stream().map(RuleSchedule.Change::text).toList()));
    TableSnapshot cut =
        exports ? table.storage().snapshot(0, writer) : table.cut(id, content, writer);
    open.add(new Save(table, cut, writer));
  }

  private void answer(Pending it, ShardTable table, Content content, Written written) {
    String failure = written.failure();
    KvReply reply =
        failure == null
            ? KvReply.done(
                it.head().clock(),
                "%s %d %08x %d"
                    .formatted(content, written.bytes(), written.checksum(), written.rows()))
            : KvReply.refused(
                "table '%s', shard %d: its part of the checkpoint is not written: %s"
                    .formatted(table.spec().name(), shard, failure));
    it.reply(reply.encode());
  }

  /// Returns whether a checkpoint has begun that is not cut yet.
  boolean isHolding() {
    return !held.isEmpty();
  }

  /// Returns whether a checkpoint is being written.
  boolean isSaving() {
    return !open.isEmpty();
  }

  /// Writes a part of each open checkpoint whose queue has room, and abandons failed ones. Returns
  /// whether it did either.
  boolean slice() {
    boolean some = false;
    Iterator<Save> each = open.iterator();
    while (each.hasNext()) {
      Save save = each.next();
      if (save.writer().hasFailed()) {
        save.cut().close();
        save.writer().abandon("it has failed");
        each.remove();
        some = true;
      } else if (save.writer().hasRoom() && context.disk().files().hasRoom(Block.PAYLOAD_BYTES)) {
        some = true;
        try {
          if (save.cut().advance()) {
            save.cut().close();
            save.writer().end();
            each.remove();
          }
        } catch (RowStoreException unread) {
          save.cut().close();
          save.writer().abandon(String.valueOf(unread.getMessage()));
          each.remove();
        }
      }
    }
    return some;
  }
}
