// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.rule.RuleSchedule;
import io.weft.kv.table.TableSink;
import io.weft.kv.table.TableSnapshot;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The copy of a shard to a new mirror while the shard continues to serve: first the state that is
/// not in rows, then the rows, each before it changes. Later pushes follow in order, so that the
/// mirror applies to each row exactly the pushes that were applied here after it was copied.
/// Confined to the shard's thread.
final class ShardCopy {

  private static final int BLOCK_BYTES = 256 << 10;
  private static final byte[] NOTHING = {};

  /// The length of the payload of `STATE`: the step, and whether the part has its first values.
  static final int STATE_BYTES = 16;

  private final int shard;
  private final Mirror to;
  private final List<Part> parts = new ArrayList<>();

  /// @param version of the replica set by which the shard is served
  /// @param ring the replica set, as written by `ReplicasNotice.bytes`, in which the mirror is to
  ///   have the shard; the current one or the next version
  ShardCopy(int shard, Mirror to, ShardContent source, int version, byte[] ring) {
    this.shard = shard;
    this.to = to;
    send(ReplicasNotice.head(KvOp.BEGIN, shard, version), 0, ring, ring.length);
    List<byte[]> windows = source.pushes().windows();
    for (ShardTable table : source.tables().all()) {
      state(table, windows.size());
    }
    for (int worker = 0; worker < windows.size(); worker++) {
      byte[] window = windows.get(worker);
      send(head(KvOp.WINDOW, shard, 0, 0), worker, window, window.length);
      if (source.tables().hasLeft(worker)) {
        send(head(KvOp.LEAVE, shard, 0, 0), worker, NOTHING, 0);
      }
    }
    for (ShardTable table : source.tables().all()) {
      if (!table.hasEnded()) {
        parts.add(new Part(table));
      }
    }
  }

  static KvHead head(KvOp op, int shard, long table, long clock) {
    return head(op, shard, table, clock, 0);
  }

  private static KvHead head(KvOp op, int shard, long table, long clock, int part) {
    return new KvHead(
        op,
        new KvHead.Target(shard, table, part, 0),
        new KvHead.Progress(0, 0, clock),
        KvHead.Listed.NONE);
  }

  private void send(KvHead head, int worker, byte[] content, int bytes) {
    to.send(
        head,
        worker,
        bytes,
        it -> MemorySegment.copy(content, 0, it, JAVA_BYTE, 0, bytes),
        this::arrived);
  }

  /// Ends the link to the mirror if a part of the copy was refused. The other server knows that its
  /// copy is incomplete, so that it never takes over the shard.
  private void arrived(@Nullable String refusal) {
    if (refusal != null) {
      to.stop("it could not be copied there: " + refusal);
    }
  }

  /// Sends specification, changes of the rule, clocks, and pushes that wait for those of other
  /// workers.
  private void state(ShardTable table, int workers) {
    long id = table.spec().id();
    byte[] text = table.spec().text().getBytes(StandardCharsets.UTF_8);
    send(head(KvOp.REGISTER, shard, id, 0), 0, text, text.length);
    if (table.hasEnded()) {
      byte[] why = table.why().getBytes(StandardCharsets.UTF_8);
      send(head(KvOp.END, shard, id, 0), 0, why, why.length);
      return;
    }
    for (RuleSchedule.Change each : table.ruleChanges()) {
      byte[] line = each.text().getBytes(StandardCharsets.UTF_8);
      send(head(KvOp.RULE, shard, id, 0), 0, line, line.length);
    }
    table.states(
        (part, initialized, step, rounds) -> {
          byte[] state = new byte[STATE_BYTES];
          MemorySegment.ofArray(state).set(JAVA_LONG_UNALIGNED, 0, step);
          MemorySegment.ofArray(state).set(JAVA_LONG_UNALIGNED, 8, initialized ? 1L : 0L);
          send(head(KvOp.STATE, shard, id, rounds.applied(), part), 0, state, state.length);
          rounds.forEach((clock, worker, push) -> kept(table, clock, worker, push));
        });
    for (int worker = 0; worker < workers; worker++) {
      send(head(KvOp.CLOCK, shard, id, table.clocks().clock(worker)), worker, NOTHING, 0);
    }
  }

  private void kept(ShardTable table, long clock, int worker, KeptPush push) {
    push.lend();
    int count = table.keyCount(push.subject());
    long keyBytes = 8L * count;
    var head =
        new KvHead(
            KvOp.KEEP,
            new KvHead.Target(shard, table.spec().id(), table.part(push.subject()), 0),
            new KvHead.Progress(0, 0, clock),
            new KvHead.Listed(count == 0 ? KvHead.Keys.NONE : KvHead.Keys.INLINE, count, 0, 0));
    to.send(
        head,
        worker,
        keyBytes + push.values().byteSize(),
        it -> {
          table.writeKeys(push.subject(), it);
          MemorySegment.copy(push.values(), 0, it, keyBytes, push.values().byteSize());
        },
        this::arrived);
  }

  private final class Part implements TableSink {
    private final ShardTable table;
    private final TableSnapshot cut;
    private byte[] block = new byte[0];
    private int filled;

    Part(ShardTable table) {
      this.table = table;
      this.cut = table.storage().snapshot(0, this);
    }

    @Override
    public void row(MemorySegment memory, long at, int bytes) {
      if (filled + bytes > block.length) {
        flush();
        block = new byte[Math.max(BLOCK_BYTES, ShardTables.LOAD_HEAD_BYTES + bytes)];
        filled = ShardTables.LOAD_HEAD_BYTES;
      }
      MemorySegment.copy(memory, JAVA_BYTE, at, block, filled, bytes);
      filled += bytes;
    }

    @Override
    public void elements(int part, long at, byte[] content, int count) {
      byte[] all = new byte[ShardTables.LOAD_HEAD_BYTES + count];
      MemorySegment.ofArray(all).set(JAVA_LONG_UNALIGNED, 0, at);
      System.arraycopy(content, 0, all, ShardTables.LOAD_HEAD_BYTES, count);
      send(head(KvOp.COPY, shard, table.spec().id(), 0, part), 0, all, all.length);
    }

    void flush() {
      if (filled > ShardTables.LOAD_HEAD_BYTES) {
        send(head(KvOp.COPY, shard, table.spec().id(), 0), 0, block, filled);
      }
      block = new byte[0];
      filled = 0;
    }
  }

  /// Sends the buffered rows.
  void flush() {
    parts.forEach(Part::flush);
  }

  /// Copies some rows. Returns whether all have been sent.
  boolean advance() {
    for (Part each : parts) {
      if (!each.cut.advance()) {
        return false;
      }
    }
    flush();
    return true;
  }

  /// Tells the mirror that the copy is complete, with the number of its requests. The mirror
  /// compares the number, because a request that it could not read is missing although later ones
  /// have arrived. `whole` runs when the mirror has confirmed.
  void complete(Runnable whole) {
    long sent = to.forwarded();
    to.send(
        head(KvOp.COMPLETE, shard, 0, 0),
        0,
        Long.BYTES,
        it -> it.set(JAVA_LONG_UNALIGNED, 0, sent),
        refusal -> {
          arrived(refusal);
          if (to.isLive()) {
            whole.run();
          }
        });
  }

  void close() {
    parts.forEach(it -> it.cut.close());
    parts.clear();
  }
}
