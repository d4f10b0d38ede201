// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TensorParts;
import io.weft.kv.worker.ShardRequest.Answer;
import io.weft.kv.worker.ShardRequest.Memory;
import io.weft.kv.worker.ShardRequest.What;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A worker's requests to one dense tensor, part by part. Any thread.
public final class TensorRequests {

  private final WorkerLinks links;
  private final TableSpec spec;
  private final TensorParts parts;
  private final TableClock clock;

  /// Creates the requests to this tensor.
  public TensorRequests(WorkerLinks links, TableSpec spec) {
    this.links = links;
    this.spec = spec;
    this.parts = TensorParts.of(spec);
    this.clock =
        new TableClock(links, spec, parts.count(), part -> parts.shard(part, links.shards()));
  }

  /// The format and priority of a push or pull.
  ///
  /// @param format of the values
  /// @param priority higher priorities are sent first
  public record Travel(Values format, int priority) {}

  /// Returns the requests to all shards.
  public TableClock clock() {
    return clock;
  }

  /// Sends the first values.
  ///
  /// @param values all of them; empty to wait for those of another worker
  public KvHandle<Void> init(MemorySegment values) throws InterruptedException {
    KvHandle<Void> handle =
        links.handle(
            "init of tensor '" + spec.name() + "'",
            clock.begin(KvOp.INIT, 0, values.byteSize()),
            () -> null);
    var travel = new Travel(Values.FLOAT32, 0);
    try {
      for (int part = 0; part < parts.count(); part++) {
        MemorySegment own =
            values.byteSize() == 0 ? MemorySegment.NULL : slice(part, values, travel);
        links.submit(
            what(KvOp.INIT, part, 0, travel),
            new Memory(null, 0, own, null),
            handle,
            (reply, written) -> {});
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  /// Pushes, pulls or both.
  ///
  /// @param values all of them; null = nothing is pushed
  /// @param into the destination of all values; null = none
  public KvHandle<Void> send(
      KvOp op, @Nullable MemorySegment values, @Nullable MemorySegment into, Travel travel)
      throws InterruptedException {
    long at = clock.next(op);
    KvHandle<Void> handle =
        clock.handle(
            "%s of tensor '%s'".formatted(op, spec.name()),
            clock.begin(op, 0, bytes(values) + bytes(into)),
            op,
            at,
            parts.count());
    try {
      for (int part = 0; part < parts.count(); part++) {
        var memory =
            new Memory(
                null,
                0,
                values == null ? MemorySegment.NULL : slice(part, values, travel),
                into == null ? null : slice(part, into, travel));
        clock.send(part, what(op, part, at, travel), memory, handle);
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  private static long bytes(@Nullable MemorySegment values) {
    return values == null ? 0 : values.byteSize();
  }

  private What what(KvOp op, int part, long at, Travel travel) {
    int shard = parts.shard(part, links.shards());
    Answer answer =
        op == KvOp.PULL && clock.isSynchronous() ? Answer.AWAITS_WORKERS : Answer.PROMPT;
    return new What(op, shard, spec.id(), at, part, travel.format(), travel.priority(), answer);
  }

  private MemorySegment slice(int part, MemorySegment all, Travel travel) {
    Values format = travel.format(); // parts begin at block boundaries
    return all.asSlice(format.bytes(parts.begin(part)), format.bytes(parts.elements(part)));
  }
}
