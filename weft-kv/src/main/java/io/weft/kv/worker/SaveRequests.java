// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.event.OperationNames;
import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.ShardRequest.Memory;
import io.weft.kv.worker.ShardRequest.What;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiConsumer;
import java.util.function.IntFunction;

/// The requests to all shards of one table that create or restore a checkpoint. Any thread.
public final class SaveRequests {

  private static final int LOAD_HEAD_BYTES = 16;

  private final WorkerLinks links;
  private final TableSpec spec;
  private final OperationNames names;
  private final Duration limit;

  /// @param limit how long a shard may take to write its file
  public SaveRequests(WorkerLinks links, TableSpec spec, Duration limit) {
    this.links = links;
    this.spec = spec;
    this.names = new OperationNames(spec.name());
    this.limit = limit;
  }

  /// Holds a synchronous table on all shards. Returns the latest clock that one of them has
  /// applied.
  public long hold() throws InterruptedException {
    var latest = new AtomicLong();
    KvHandle<Void> handle = links.handle(words("hold"), begin(KvOp.HOLD, 0), () -> null);
    send(
        handle,
        KvOp.HOLD,
        0,
        shard -> MemorySegment.NULL,
        (shard, reply) -> latest.accumulateAndGet(reply.applied(), Math::max),
        limit);
    var unused = handle.await();
    return latest.get();
  }

  /// Releases a held table. The request has the usual limit, so that it is sent even if the
  /// checkpoint's limit is very short.
  public KvHandle<Void> release() throws InterruptedException {
    KvHandle<Void> handle = links.handle(words("release"), begin(KvOp.RELEASE, 0), () -> null);
    send(handle, KvOp.RELEASE, 0, shard -> MemorySegment.NULL, (shard, reply) -> {}, links.limit());
    return handle;
  }

  /// Writes each shard's file as of a clock. The result is the report of each shard, by shard.
  ///
  /// @param op `CUT` or `EXPORT`
  /// @param file the path of the file, by shard
  /// @param id of the checkpoint
  /// @param base id of the previous checkpoint, or empty
  public KvHandle<AtomicReferenceArray<String>> cut(
      KvOp op, IntFunction<String> file, String id, String base, long clock)
      throws InterruptedException {
    var said = new AtomicReferenceArray<String>(links.shards());
    KvHandle<AtomicReferenceArray<String>> handle =
        links.handle(words(op.word()), begin(op, 0), () -> said);
    send(
        handle,
        op,
        clock,
        shard ->
            MemorySegment.ofArray(
                String.join("\n", file.apply(shard), id, base).getBytes(StandardCharsets.UTF_8)),
        (shard, reply) -> said.set(shard, reply.text()),
        limit);
    return handle;
  }

  /// Restores content of a checkpoint to a shard.
  ///
  /// @param part of a tensor
  /// @param at offset of the content in the part
  /// @param step of the table
  /// @param content copied
  public KvHandle<Void> load(
      int shard, int part, long at, long step, long clock, MemorySegment content)
      throws InterruptedException {
    MemorySegment payload =
        MemorySegment.ofArray(
            new byte[Math.addExact(LOAD_HEAD_BYTES, Math.toIntExact(content.byteSize()))]);
    payload.set(JAVA_LONG_UNALIGNED, 0, at);
    payload.set(JAVA_LONG_UNALIGNED, 8, step);
    MemorySegment.copy(content, 0, payload, LOAD_HEAD_BYTES, content.byteSize());
    KvHandle<Void> handle =
        links.handle(words("restore"), begin(KvOp.LOAD, content.byteSize()), () -> null);
    try {
      links.submit(
          new What(KvOp.LOAD, shard, spec.id(), clock).withPart(part),
          new Memory(null, 0, payload, null),
          handle,
          (reply, written) -> {});
    } finally {
      handle.sealed();
    }
    return handle;
  }

  /// Restores a change of the update rule on all shards.
  ///
  /// @param line of `RuleSchedule.Change`
  public KvHandle<Void> rule(String line) throws InterruptedException {
    byte[] words = line.getBytes(StandardCharsets.UTF_8);
    KvHandle<Void> handle = links.handle(words("restore"), begin(KvOp.RULE, 0), () -> null);
    send(
        handle,
        KvOp.RULE,
        0,
        shard -> MemorySegment.ofArray(words),
        (shard, reply) -> {},
        links.limit());
    return handle;
  }

  private TableOperation begin(KvOp op, long bytes) {
    return links.begin(names, op, 0, bytes);
  }

  private String words(String what) {
    return what + " of table '" + spec.name() + "'";
  }

  private void send(
      KvHandle<?> handle,
      KvOp op,
      long clock,
      IntFunction<MemorySegment> payload,
      BiConsumer<Integer, KvReply> onReply,
      Duration within)
      throws InterruptedException {
    try {
      for (int shard = 0; shard < links.shards(); shard++) {
        int each = shard;
        links.submit(
            new What(op, shard, spec.id(), clock),
            new Memory(null, 0, payload.apply(shard), null),
            handle,
            (reply, written) -> onReply.accept(each, reply),
            within);
      }
    } finally {
      handle.sealed();
    }
  }
}
