// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.frame.KvReply;
import io.weft.kv.server.ShardTable.Subject;
import io.weft.kv.spill.RowStoreException;
import io.weft.kv.table.MemoryBudgetException;
import io.weft.tensor.TensorLease;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A shard's answers, and the requests whose answers wait for memory. Confined to the shard's
/// thread.
final class ShardAnswers {

  private static final Logger LOG = LoggerFactory.getLogger(ShardAnswers.class);

  private final int shard;
  private final ShardContext context;
  private final ShardTables tables;
  private final Runnable wake;

  /// The buffer for values that are part of the reply.
  private final MemorySegment shortAnswer = Arena.ofAuto().allocate(KvReply.MOST_VALUE_BYTES, 64);

  private final ArrayDeque<Pending> unanswered = new ArrayDeque<>();

  /// @param wake is called from any thread when memory of answers has become free
  ShardAnswers(int shard, ShardContext context, ShardTables tables, Runnable wake) {
    this.shard = shard;
    this.context = context;
    this.tables = tables;
    this.wake = wake;
  }

  /// Returns the requests whose answers wait for memory, in order.
  ArrayDeque<Pending> unanswered() {
    return unanswered;
  }

  /// Answers with the reason of a failure.
  void failed(Pending it, Throwable why) {
    if (why instanceof Refusal refusal && refusal.isEnd()) {
      refuseEnded(it, String.valueOf(why.getMessage()));
    } else if (why instanceof Refusal
        || why instanceof MemoryBudgetException
        || why instanceof RowStoreException) {
      refuse(it, String.valueOf(why.getMessage()));
    } else {
      LOG.error("shard {} of rank {}: {} failed", shard, context.rank(), it.head(), why);
      refuse(it, "it failed there: " + why);
    }
  }

  /// Answers that the request was refused.
  void refuse(Pending it, String why) {
    ShardTable table = tables.find(it.head().table());
    String about = table == null ? "" : "table '" + table.spec().name() + "', ";
    it.reply(
        KvReply.refused(
                "%sshard %d, %s of rank %d: %s"
                    .formatted(about, shard, it.head().op(), it.fromRank(), why))
            .encode());
  }

  /// Answers that its table has ended.
  void refuseEnded(Pending it, String why) {
    it.reply(KvReply.ended(why).encode());
  }

  /// Runs `answer` if the mirror has executed the request too, and otherwise answers with the
  /// mirror's refusal.
  void over(Pending it, @Nullable String refusal, Runnable answer) {
    if (refusal == null) {
      answer.run();
    } else {
      refuse(it, refusal);
    }
  }

  /// Answers with values, now or when there is memory for them. Throws `Refusal` if the request has
  /// no room for them.
  void values(Pending it, ShardTable table, Subject subject) throws Refusal {
    long told = table.clockToTell(subject, it.head().clock());
    values(it, told, subject.valueBytes(), into -> table.read(subject, into));
  }

  /// Writes values of an answer.
  @FunctionalInterface
  interface Filling {
    void fill(MemorySegment into) throws Refusal;
  }

  /// Answers with `bytes` bytes of values, as above.
  void values(Pending it, long told, long bytes, Filling values) throws Refusal {
    if (bytes <= KvReply.MOST_VALUE_BYTES) {
      MemorySegment inReply = shortAnswer.asSlice(0, bytes);
      values.fill(inReply);
      it.reply(KvReply.done(told, inReply).encode());
      return;
    }
    if (it.intoBytes() < bytes) {
      throw new Refusal(
          "%d bytes to be answered, and room for %d".formatted(bytes, it.intoBytes()));
    }
    TensorLease lease = context.memory().replies().tryLease(it.worker(), bytes);
    if (lease == null) {
      unanswered.add(it);
      return;
    }
    MemorySegment into = lease.view().data().asSlice(0, bytes);
    Runnable release =
        () -> {
          context.memory().replies().release(it.worker(), bytes, lease);
          wake.run();
        };
    try {
      values.fill(into);
    } catch (Refusal | RuntimeException | Error refused) {
      release.run();
      throw refused;
    }
    it.reply(KvReply.done(told).encode(), into, release);
  }
}
