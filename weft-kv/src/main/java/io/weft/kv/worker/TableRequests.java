// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvFunction;
import io.weft.kv.key.KeyList;
import io.weft.kv.key.KeySlice;
import io.weft.kv.spec.TableCounts;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TableStatistics;
import io.weft.kv.worker.ShardRequest.Memory;
import io.weft.kv.worker.ShardRequest.What;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// What a worker asks of one table, cut by shard. Any thread.
public final class TableRequests {

  private final WorkerLinks links;
  private final TableSpec spec;
  private final TableClock clock;

  /// Of this table.
  public TableRequests(WorkerLinks links, TableSpec spec) {
    this.links = links;
    this.spec = spec;
    this.clock = new TableClock(links, spec, links.shards());
  }

  /// A list of keys of this table.
  public KeyList cut(long[] keys) {
    return KeyList.cut(keys, spec, links.shards());
  }

  /// Registers it on all shards.
  public KvHandle<Void> register() throws InterruptedException {
    return clock.register(shard -> shard);
  }

  /// Clocks of this worker in this table.
  public long clock() {
    return clock.now();
  }

  /// The worker is at its next clock.
  public KvHandle<Void> advance() throws InterruptedException {
    return clock.advance(IntStream.range(0, links.shards()).toArray());
  }

  /// What was counted so far.
  public TableCounts counts() {
    return clock.counts();
  }

  /// Runs a function on all shards.
  public <R> KvHandle<R> call(KvFunction<R> function) throws InterruptedException {
    return clock.call(function);
  }

  /// Has a change made on all shards.
  public KvHandle<Void> change(KvChange change) throws InterruptedException {
    return clock.change(change);
  }

  /// What the shards have.
  public KvHandle<TableStatistics> statistics() throws InterruptedException {
    return clock.statistics();
  }

  /// Pushes, pulls or both.
  ///
  /// @param values a row for each key; empty where nothing is pushed
  /// @param into where rows are written to; null = nowhere
  public KvHandle<Void> send(
      KvOp op, KeyList keys, MemorySegment values, @Nullable MemorySegment into)
      throws InterruptedException {
    return send(op, KvHead.Values.FLOAT32, keys, values, into);
  }

  /// The same with values of this format, FLOAT32 or FLOAT16.
  public KvHandle<Void> send(
      KvOp op,
      KvHead.Values format,
      KeyList keys,
      MemorySegment values,
      @Nullable MemorySegment into)
      throws InterruptedException {
    return send(new What(op, 0, spec.id(), clock.next(op), 0, format, 0), keys, values, into);
  }

  /// Pulls for the clock after this one.
  public KvHandle<Void> prefetch(KeyList keys, MemorySegment into) throws InterruptedException {
    var what = new What(KvOp.PULL, 0, spec.id(), clock.next(KvOp.PULL) + 1);
    return send(what, keys, MemorySegment.NULL, into);
  }

  /// @param what for each shard
  private KvHandle<Void> send(
      What what, KeyList keys, MemorySegment values, @Nullable MemorySegment into)
      throws InterruptedException {
    KvOp op = what.op();
    boolean pushes = op != KvOp.PULL;
    KvHandle<Void> handle =
        links.handle(
            "%s of %d keys of table '%s'".formatted(op, keys.size(), spec.name()), () -> null);
    try {
      for (KeySlice slice : keys.slices()) {
        if (pushes || slice.count() > 0) {
          clock.send(
              slice.shard(),
              new What(
                  op, slice.shard(), what.table(), what.clock(), 0, what.values(), what.priority()),
              new Memory(slice, (int) spec.width(), values, into),
              handle);
        }
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }
}
