// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.comm.CommException;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.key.KeyDigest;
import io.weft.kv.key.KeySlice;
import io.weft.kv.worker.KvHandle.Fate;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// One request to one shard, from its creation until its handle is notified of its completion.
final class ShardRequest {

  /// The condition of an answer.
  enum Answer {
    /// The server answers when it has executed the request.
    PROMPT,
    /// The server answers when other workers have pushed.
    AWAITS_WORKERS
  }

  /// The operation and its parameters.
  ///
  /// @param op the operation
  /// @param shard the shard's number
  /// @param table id of the table
  /// @param clock of the worker
  /// @param part of a tensor
  /// @param values the format of values
  /// @param priority higher priorities are sent first
  /// @param answer the condition of the answer
  record What(
      KvOp op,
      int shard,
      long table,
      long clock,
      int part,
      KvHead.Values values,
      int priority,
      Answer answer) {

    /// Creates parameters of FLOAT32 values, without a part and with the default priority, of an
    /// operation that is answered promptly, unless it is a wait.
    What(KvOp op, int shard, long table, long clock) {
      this(
          op,
          shard,
          table,
          clock,
          0,
          KvHead.Values.FLOAT32,
          0,
          op == KvOp.WAIT ? Answer.AWAITS_WORKERS : Answer.PROMPT);
    }

    /// Returns these parameters with a part of a tensor.
    What withPart(int number) {
      return new What(op, shard, table, clock, number, values, priority, answer);
    }

    /// Returns these parameters with another format of values.
    What withValues(KvHead.Values format) {
      return new What(op, shard, table, clock, part, format, priority, answer);
    }

    /// Returns these parameters with another priority.
    What withPriority(int other) {
      return new What(op, shard, table, clock, part, values, other, answer);
    }
  }

  /// The caller's memory.
  ///
  /// @param slice keys of this shard; null = none
  /// @param width floats of a key
  /// @param values of the whole list; empty = none. Without a slice it is the payload itself
  /// @param into of the whole list; null = none. Without a slice it is the destination itself
  record Memory(
      @Nullable KeySlice slice, int width, MemorySegment values, @Nullable MemorySegment into) {}

  private final What what;
  private final Memory memory;
  private final KvHandle<?> handle;
  private final BiConsumer<KvReply, MemorySegment> onReply;
  private long number;
  private long sequence;
  private boolean withKeys;
  private boolean repeated;
  private int server;
  private int ring;
  private @Nullable Duration limit;
  private MemorySegment payload = MemorySegment.NULL;
  private @Nullable MemorySegment place;
  private @Nullable TensorLease staged;
  private @Nullable TensorLease landing;

  /// @param onReply receives a reply that is `DONE`, with the values
  ShardRequest(
      What what, Memory memory, KvHandle<?> handle, BiConsumer<KvReply, MemorySegment> onReply) {
    this.what = what;
    this.memory = memory;
    this.handle = handle;
    this.onReply = onReply;
  }

  What what() {
    return what;
  }

  KvHandle<?> handle() {
    return handle;
  }

  long sequence() {
    return sequence;
  }

  void sequence(long order) {
    sequence = order;
  }

  /// Sets the server that has failed to answer.
  void server(int rank) {
    server = rank;
  }

  int server() {
    return server;
  }

  /// Sets the version of the replica set by which the server was chosen.
  void ring(int version) {
    ring = version;
  }

  int ring() {
    return ring;
  }

  /// Prepares the request for another server, which knows none of its keys.
  void again() {
    KeySlice slice = memory.slice();
    if (slice != null) {
      slice.known(false);
    }
    repeated = false;
    freeStaged();
  }

  /// Sets a limit that differs from the usual one.
  void limit(Duration other) {
    limit = other;
  }

  Duration limitOr(Duration usual) {
    return limit == null ? usual : limit;
  }

  boolean isPush() {
    return what.op().isNumbered();
  }

  /// Returns the number of a push, or for a clock the number of the last push before it.
  long number() {
    return number;
  }

  void number(long its) {
    number = its;
  }

  /// Returns the bytes that the request sends and receives.
  long bytes() {
    MemorySegment to = place;
    return payload.byteSize() + (to == null ? 0 : to.byteSize());
  }

  MemorySegment payload() {
    return payload;
  }

  @Nullable MemorySegment place() {
    return place;
  }

  /// Copies the payload to memory that a peer can read. Copies nothing if the keys are known and
  /// the caller's memory is native and in the shard's order.
  void stage(LongFunction<TensorLease> from) {
    KeySlice slice = memory.slice();
    if (slice == null) {
      stageWhole(from);
      return;
    }
    withKeys = slice.count() > 0 && !slice.isKnown();
    long keyBytes = withKeys ? 8L * slice.count() : 0;
    long rowBytes = what.values().bytes(memory.width());
    boolean pushes = isPush();
    if (!withKeys && (!pushes || (slice.isDirect() && memory.values().isNative()))) {
      payload = pushes ? slice.direct(memory.values(), rowBytes) : MemorySegment.NULL;
    } else {
      long bytes = keyBytes + (pushes ? rowBytes * slice.count() : 0);
      payload = lease(from, bytes);
      MemorySegment.copy(slice.keys(), 0, payload, 0, keyBytes);
      if (pushes) {
        gather(slice, memory.values(), memory.width(), what.values(), payload.asSlice(keyBytes));
      }
    }
    MemorySegment into = memory.into();
    if (into != null && place == null && answerBytes() > KvReply.MOST_VALUE_BYTES) {
      if (slice.isDirect() && into.isNative()) {
        place = slice.direct(into, rowBytes);
      } else {
        landing = from.apply(rowBytes * slice.count());
        place = landing.view().data();
      }
    }
  }

  /// Copies the rows of a slice, FLOAT32 or FLOAT16, out of those of its list.
  static void gather(
      KeySlice slice, MemorySegment values, int width, KvHead.Values format, MemorySegment into) {
    if (format == KvHead.Values.FLOAT16) {
      slice.gatherHalves(values, width, into);
    } else {
      slice.gather(values, width, into);
    }
  }

  private void stageWhole(LongFunction<TensorLease> from) {
    MemorySegment all = memory.values();
    payload = all;
    if (!all.isNative()) {
      payload = lease(from, all.byteSize());
      payload.copyFrom(all);
    }
    MemorySegment into = memory.into();
    if (into != null && place == null && answerBytes() > KvReply.MOST_VALUE_BYTES) {
      if (into.isNative()) {
        place = into;
      } else {
        landing = from.apply(into.byteSize());
        place = landing.view().data();
      }
    }
  }

  /// Returns the bytes of the requested values.
  private long answerBytes() {
    KeySlice slice = memory.slice();
    MemorySegment into = memory.into();
    return into == null
        ? 0
        : slice == null ? into.byteSize() : what.values().bytes(memory.width()) * slice.count();
  }

  private MemorySegment lease(LongFunction<TensorLease> from, long bytes) {
    if (bytes == 0) {
      return MemorySegment.NULL;
    }
    TensorLease own = from.apply(bytes);
    staged = own;
    return own.view().data();
  }

  KvHead head(long settled) {
    KeySlice slice = memory.slice();
    int count = slice == null ? 0 : slice.count();
    KvHead.Keys keys = KvHead.Keys.NONE;
    if (slice != null && count > 0) {
      keys = withKeys ? (isKept(slice) ? KvHead.Keys.KEPT : KvHead.Keys.INLINE) : KvHead.Keys.NAMED;
    }
    KeyDigest digest = slice == null ? KeyDigest.NONE : slice.digest();
    return new KvHead(
        what.op(),
        new KvHead.Target(what.shard(), what.table(), what.part(), ring),
        new KvHead.Progress(isPush() ? number : 0, isPush() ? settled : 0, what.clock()),
        new KvHead.Listed(keys, count, digest.high(), digest.low()),
        what.values());
  }

  /// Returns whether the shard should keep the keys, which are unlikely to be inserted or removed
  /// again.
  private boolean isKept(KeySlice slice) {
    return slice.isKept() && !what.op().editsRows();
  }

  /// Handles a shard that does not have the keys. Returns whether the request must be sent again
  /// with them.
  boolean repeat() {
    KeySlice slice = memory.slice();
    if (slice == null || repeated) {
      return false;
    }
    repeated = true;
    slice.known(false);
    freeStaged();
    return true;
  }

  void done(KvReply reply, long written) {
    KeySlice slice = memory.slice();
    if (slice != null && withKeys && isKept(slice)) {
      slice.known(true);
    }
    MemorySegment from = place;
    MemorySegment into = memory.into();
    long answered = from == null ? reply.values().byteSize() : written;
    CommException wrong;
    if (into != null && answered != answerBytes()) {
      wrong =
          new CommException.Mismatch(
              "%s: shard %d has answered with %d bytes, expected %d"
                  .formatted(handle.words(), what.shard(), answered, answerBytes()));
    } else {
      wrong = take(reply, from == null ? reply.values() : from.asSlice(0, written), from == null);
    }
    end(wrong, Fate.DONE);
  }

  /// Copies values to their destination. Returns the failure, if any. The caller may have closed
  /// the memory in the meantime.
  private @Nullable CommException take(KvReply reply, MemorySegment values, boolean inReply) {
    MemorySegment into = memory.into();
    KeySlice slice = memory.slice();
    try {
      if (into != null && (inReply || landing != null)) {
        if (slice == null) {
          MemorySegment.copy(values, 0, into, 0, values.byteSize());
        } else if (what.values() == KvHead.Values.FLOAT16) {
          slice.scatterHalves(values, memory.width(), into);
        } else {
          slice.scatter(values, memory.width(), into);
        }
      }
      onReply.accept(reply, values);
      return null;
    } catch (RuntimeException | Error failed) {
      return new CommException.Broken(
          "%s: the answer of shard %d cannot be used: %s"
              .formatted(handle.words(), what.shard(), failed),
          -1,
          failed);
    }
  }

  void fail(CommException cause, Fate fate) {
    end(cause, fate);
  }

  private void end(@Nullable CommException cause, Fate fate) {
    freeStaged();
    TensorLease landed = landing;
    landing = null;
    if (landed != null) {
      landed.close();
    }
    if (cause == null) {
      handle.ended(null);
    } else {
      handle.failed(what, fate, cause);
    }
  }

  private void freeStaged() {
    TensorLease own = staged;
    staged = null;
    if (own != null) {
      own.close();
    }
  }
}
