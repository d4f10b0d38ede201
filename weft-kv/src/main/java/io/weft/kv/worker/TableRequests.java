// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.kv.frame.Ahead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.key.KeyList;
import io.weft.kv.key.KeySlice;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.ShardRequest.Memory;
import io.weft.kv.worker.ShardRequest.What;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/// What a worker asks of one table, cut by shard. Any thread.
public final class TableRequests {

  private final WorkerLinks links;
  private final TableSpec spec;
  private final boolean synchronous;

  /// This worker's, in this table.
  private final AtomicLong clock = new AtomicLong();

  /// Clocks that each shard has said that it has applied.
  private final AtomicLongArray applied;

  /// Of this table.
  public TableRequests(WorkerLinks links, TableSpec spec) {
    this.links = links;
    this.spec = spec;
    this.synchronous = spec.consistency().isSynchronous();
    this.applied = new AtomicLongArray(links.shards());
  }

  /// A list of keys of this table.
  public KeyList cut(long[] keys) {
    return KeyList.cut(keys, spec.slicer(), links.shards(), synchronous);
  }

  /// Registers it on all shards.
  public KvHandle<Void> register() throws InterruptedException {
    KvHandle<Void> handle = links.handle("register of table '" + spec.name() + "'", () -> null);
    byte[] text = spec.text().getBytes(StandardCharsets.UTF_8);
    var memory = new Memory(null, 0, MemorySegment.ofArray(text), null);
    for (int shard = 0; shard < links.shards(); shard++) {
      int from = shard;
      links.submit(
          what(KvOp.REGISTER, shard, 0),
          memory,
          handle,
          (reply, written) -> {
            heard(from, reply.applied());
            clock.accumulateAndGet(reply.applied(), Math::max);
          });
    }
    handle.sealed();
    return handle;
  }

  /// Clocks of this worker in this table.
  public long clock() {
    return clock.get();
  }

  private What what(KvOp op, int shard, long at) {
    return new What(op, shard, spec.id(), at, 0, 0);
  }

  /// The worker is at its next clock.
  public KvHandle<Void> advance() throws InterruptedException {
    long at = clock.incrementAndGet();
    KvHandle<Void> handle = links.handle("clock of table '" + spec.name() + "'", () -> null);
    for (int shard = 0; shard < links.shards(); shard++) {
      links.submit(
          what(KvOp.CLOCK, shard, at),
          new Memory(null, 0, MemorySegment.NULL, null),
          handle,
          (reply, written) -> {});
    }
    handle.sealed();
    return handle;
  }

  /// Pushes, pulls or both.
  ///
  /// @param values a row for each key; empty where nothing is pushed
  /// @param into where rows are written to; null = nowhere
  public KvHandle<Void> send(
      KvOp op, KeyList keys, MemorySegment values, @Nullable MemorySegment into)
      throws InterruptedException {
    long at = op != KvOp.PULL && synchronous ? clock.incrementAndGet() : clock.get();
    return send(op, at, keys, values, into);
  }

  /// Pulls for the clock after this one.
  public KvHandle<Void> prefetch(KeyList keys, MemorySegment into) throws InterruptedException {
    return send(KvOp.PULL, clock.get() + 1, keys, MemorySegment.NULL, into);
  }

  private KvHandle<Void> send(
      KvOp op, long at, KeyList keys, MemorySegment values, @Nullable MemorySegment into)
      throws InterruptedException {
    boolean pushes = op != KvOp.PULL;
    KvHandle<Void> handle =
        links.handle(
            "%s of %d keys of table '%s'".formatted(op, keys.size(), spec.name()), () -> null);
    try {
      for (KeySlice slice : keys.slices()) {
        if (pushes || slice.count() > 0) {
          send(
              what(op, slice.shard(), at),
              new Memory(slice, (int) spec.width(), values, into),
              handle);
        }
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  private void send(What what, Memory memory, KvHandle<?> handle) throws InterruptedException {
    int shard = what.shard();
    long before = what.clock() - Ahead.CLOCKS;
    if (!synchronous || what.op() == KvOp.PULL || before <= applied.get(shard)) {
      links.submit(what, memory, handle, (reply, written) -> heard(shard, reply.applied()));
      return;
    }
    // Too far ahead of the others: the push follows when the shard says that they have come.
    links.submit(
        what(KvOp.WAIT, shard, before),
        new Memory(null, 0, MemorySegment.NULL, null),
        handle,
        (reply, written) -> {
          heard(shard, reply.applied());
          links.follow(what, memory, handle, (next, bytes) -> heard(shard, next.applied()));
        });
  }

  private void heard(int shard, long clocks) {
    applied.accumulateAndGet(shard, clocks, Math::max);
  }
}
