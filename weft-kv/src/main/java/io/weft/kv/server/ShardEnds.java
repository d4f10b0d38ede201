// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.server.ShardTable.Subject;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;

/// The ends of synchronous tables, and the reports on overdue requests.
final class ShardEnds {

  /// The cause for which a pull of several tables waits.
  static final String OF_TABLES =
      "one of its tables waits for other workers: see whether they go on";

  private ShardEnds() {}

  /// Ends a table because a worker's push is only on some of the shards, or another shard has ended
  /// the table. Throws `Refusal` for a table that is not synchronous.
  static void end(Pending it, ShardTable table) throws Refusal {
    if (!table.spec().consistency().isSynchronous()) {
      throw new Refusal("its table is not synchronous, and does not end");
    }
    MemorySegment payload = it.payload();
    if (payload.byteSize() > TableSpec.MAX_TEXT_BYTES) {
      throw new Refusal("a reason of " + payload.byteSize() + " bytes");
    }
    table.end(new String(payload.toArray(JAVA_BYTE), StandardCharsets.UTF_8));
  }

  /// Fails the overdue requests of this process's own worker.
  static void expire(int shard, ShardTable table, long nowNanos) {
    Iterator<Pending> each = table.parked().iterator();
    while (each.hasNext()) {
      Pending it = each.next();
      if (it.isOverdue(nowNanos)) {
        each.remove();
        it.expire(
            "shard %d of this process has not answered in time: %s"
                .formatted(shard, words(it, table)));
      }
    }
  }

  private static String words(Pending it, ShardTable table) {
    if (it.head().op() == KvOp.PULL_TABLES) {
      return "table '" + table.spec().name() + "': " + OF_TABLES;
    }
    try {
      Subject subject = table.subject(it.head(), it.payload());
      return subject == null ? "" : waitsFor(it.head().op(), table, subject, it.head().clock());
    } catch (Refusal unread) {
      return String.valueOf(unread.getMessage());
    }
  }

  private static String waitsFor(KvOp op, ShardTable table, Subject subject, long clock) {
    return op == KvOp.INIT
        ? "it waits for the first values of rank %d: see whether it has called init"
            .formatted(table.context().workers().getFirst())
        : table.waitsFor(subject, clock);
  }

  /// Reports the cause of a request's wait, and whether a push was taken.
  static void why(Pending it, ShardTable table) throws Refusal {
    Subject subject = table.subject(it.head(), MemorySegment.NULL);
    if (subject == null) {
      throw new Refusal("it names an unknown list of keys");
    }
    long clock = it.head().clock();
    long taken = KvReply.NOT_KNOWN;
    KvOp op = KvOp.of(it.head().digestHigh());
    if (table.spec().consistency().isSynchronous() && !op.editsRows()) {
      taken = table.rounds(subject).has(it.worker(), clock) ? KvReply.TAKEN : KvReply.NOT_TAKEN;
    }
    String words = waitsFor(op, table, subject, clock);
    it.reply(KvReply.done(taken, words).encode());
  }
}
