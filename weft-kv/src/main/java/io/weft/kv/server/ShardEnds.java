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
import java.util.function.Consumer;

/// The ends of synchronous tables on a shard, and the reports on overdue requests. Confined to the
/// shard's thread.
final class ShardEnds {

  private final int shard;
  private final ShardContext context;
  private final ShardMirror mirror;
  private final Consumer<ShardTable> letGo;

  /// @param letGo releases the waiting requests of a table that has ended
  ShardEnds(int shard, ShardContext context, ShardMirror mirror, Consumer<ShardTable> letGo) {
    this.shard = shard;
    this.context = context;
    this.mirror = mirror;
    this.letGo = letGo;
  }

  /// Ends a table because a worker's push is only on some of the shards, or another shard has ended
  /// the table. Throws `Refusal` for a table that is not synchronous.
  void end(Pending it, ShardTable table) throws Refusal {
    if (!table.spec().consistency().isSynchronous()) {
      throw new Refusal("its table is not synchronous, and does not end");
    }
    MemorySegment payload = it.request().payload();
    if (payload.byteSize() > TableSpec.MAX_TEXT_BYTES) {
      throw new Refusal("a reason of " + payload.byteSize() + " bytes");
    }
    table.end(new String(payload.toArray(JAVA_BYTE), StandardCharsets.UTF_8));
    letGo.accept(table);
  }

  /// Forwards the end of a table on this shard to the mirror.
  void ended(ShardTable table) {
    letGo.accept(table);
    if (mirror.serves()) {
      byte[] why = table.why().getBytes(StandardCharsets.UTF_8);
      mirror.forward(
          ShardCopy.head(KvOp.END, shard, table.spec().id(), 0),
          0,
          why.length,
          to -> MemorySegment.copy(why, 0, to, JAVA_BYTE, 0, why.length),
          refusal -> {});
    }
  }

  /// Fails the overdue requests of this process's own worker.
  void expire(ShardTable table, long nowNanos) {
    Iterator<Pending> each = table.parked().iterator();
    while (each.hasNext()) {
      Pending it = each.next();
      if (it.request() instanceof ObservedRequest local && local.isOverdue(nowNanos)) {
        each.remove();
        local.expire(
            "shard %d of this process has not answered in time: %s"
                .formatted(shard, words(it, table)));
      }
    }
  }

  private String words(Pending it, ShardTable table) {
    try {
      Subject subject = table.subject(it.head(), it.request().payload());
      return subject == null ? "" : waitsFor(it.head().op(), table, subject, it.head().clock());
    } catch (Refusal unread) {
      return String.valueOf(unread.getMessage());
    }
  }

  private String waitsFor(KvOp op, ShardTable table, Subject subject, long clock) {
    return op == KvOp.INIT
        ? "it waits for the first values of rank %d: see whether it has called init"
            .formatted(context.workers().getFirst())
        : table.waitsFor(subject, clock);
  }

  /// Reports the cause of a request's wait, and whether a push was taken.
  void why(Pending it, ShardTable table) throws Refusal {
    Subject subject = table.subject(it.head(), MemorySegment.NULL);
    if (subject == null) {
      throw new Refusal("it names an unknown list of keys");
    }
    long clock = it.head().clock();
    long taken = KvReply.NOT_KNOWN;
    if (table.spec().consistency().isSynchronous()) {
      taken = table.rounds(subject).has(it.worker(), clock) ? KvReply.TAKEN : KvReply.NOT_TAKEN;
    }
    String words = waitsFor(KvOp.of(it.head().digestHigh()), table, subject, clock);
    it.request().reply(KvReply.done(taken, words).encode());
  }
}
