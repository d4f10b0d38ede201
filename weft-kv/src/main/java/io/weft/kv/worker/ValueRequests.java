// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.ValueList;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.ShardRequest.Memory;
import io.weft.kv.worker.ShardRequest.What;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A worker's requests to one table of values of any length, cut by shard. Any thread.
public final class ValueRequests {

  private final WorkerLinks links;
  private final TableSpec spec;
  private final TableClock clock;
  private final boolean toAll;

  /// Creates the requests to this table.
  public ValueRequests(WorkerLinks links, TableSpec spec) {
    this.links = links;
    this.spec = spec;
    this.toAll = TableClock.pushesToAll(spec);
    this.clock = new TableClock(links, spec, links.shards(), shard -> shard);
  }

  /// Returns the requests to all shards.
  public TableClock clock() {
    return clock;
  }

  /// Returns the lengths of these keys' values, in the order of the keys; 0 for a key without a
  /// value.
  public KvHandle<int[]> lengths(long[] keys) throws InterruptedException {
    List<ValueSlice> slices = ValueSlice.cut(spec, keys, links.shards());
    int[] lengths = new int[keys.length];
    KvHandle<int[]> handle =
        links.handle(
            words("lengths", keys.length), clock.begin(KvOp.PULL, keys.length, 0), () -> lengths);
    long at = clock.next(KvOp.PULL);
    try {
      for (ValueSlice slice : slices) {
        if (slice.count() > 0) {
          MemorySegment into = MemorySegment.ofArray(new int[slice.count()]);
          send(
              KvOp.PULL,
              at,
              slice,
              new Memory(null, 0, ValueList.ask(slice.keys()), into),
              handle,
              () -> {
                for (int i = 0; i < slice.count(); i++) {
                  lengths[slice.position(i)] = into.getAtIndex(JAVA_INT_UNALIGNED, i);
                }
              });
        }
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  /// Pushes, pulls or both.
  ///
  /// @param keys distinct keys
  /// @param lengths of their values
  /// @param values of all keys, contiguous; null = nothing is pushed
  /// @param into the destination of the values of all keys; null = none
  public KvHandle<Void> send(
      KvOp op,
      long[] keys,
      int[] lengths,
      @Nullable MemorySegment values,
      @Nullable MemorySegment into)
      throws InterruptedException {
    List<ValueSlice> slices = ValueSlice.cut(spec, keys, links.shards()); // may throw
    boolean every = values != null && toAll;
    List<ValueSlice> asked = every ? slices : slices.stream().filter(it -> it.count() > 0).toList();
    long at = clock.next(op);
    KvHandle<Void> handle =
        clock.handle(
            words(op.toString(), keys.length),
            clock.begin(op, keys.length, bytes(values) + bytes(into)),
            op,
            at,
            asked.size());
    try {
      for (ValueSlice slice : asked) {
        send(op, at, slice, slice.layout(lengths), values, into, handle);
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  private void send(
      KvOp op,
      long at,
      ValueSlice slice,
      ValueSlice.Layout layout,
      @Nullable MemorySegment values,
      @Nullable MemorySegment into,
      KvHandle<Void> handle)
      throws InterruptedException {
    MemorySegment payload =
        ValueList.write(slice.keys(), layout.lengths(), values == null ? 0 : layout.floats());
    if (values != null) {
      layout.gather(values, payload.asSlice(ValueList.valuesAt(slice.count())));
    }
    MemorySegment landing =
        into == null || slice.count() == 0
            ? null
            : MemorySegment.ofArray(new float[Math.toIntExact(layout.floats())]);
    send(
        op,
        at,
        slice,
        new Memory(null, 0, payload, landing),
        handle,
        () -> {
          if (into != null && landing != null) {
            layout.scatter(landing, into);
          }
        });
  }

  private void send(
      KvOp op, long at, ValueSlice slice, Memory memory, KvHandle<?> handle, Runnable onAnswer)
      throws InterruptedException {
    clock.send(
        slice.shard(),
        new What(op, slice.shard(), spec.id(), at),
        memory,
        handle,
        written -> onAnswer.run());
  }

  private static long bytes(@Nullable MemorySegment values) {
    return values == null ? 0 : values.byteSize();
  }

  private String words(String what, int keys) {
    return "%s of %d keys of table '%s'".formatted(what, keys, spec.name());
  }
}
