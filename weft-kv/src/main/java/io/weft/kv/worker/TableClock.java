// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.comm.CommException;
import io.weft.kv.event.OperationNames;
import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.ClockWindow;
import io.weft.kv.frame.KvCall;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvFunction;
import io.weft.kv.rule.RuleSchedule;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.TableCounts;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TableStatistics;
import io.weft.kv.worker.ShardRequest.Memory;
import io.weft.kv.worker.ShardRequest.What;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// A worker's clock of a table and its requests to all shards, which do not depend on the kind of
/// the table. The clock is sent with requests, and answers report the clocks of other workers. Any
/// thread.
public final class TableClock {

  /// The maximum length of the reason that is sent when a table ends.
  private static final int MOST_REASON_BYTES = 2048;

  /// How often a shard is notified of an end.
  private static final int MOST_TOLD = 10;

  private static final Memory NOTHING = new Memory(null, 0, MemorySegment.NULL, null);

  private final WorkerLinks links;
  private final TableSpec spec;
  private final OperationNames names;
  private final boolean synchronous;
  private final IntUnaryOperator shardOf;
  private final AtomicLong clock = new AtomicLong();
  private final AtomicLong pushes = new AtomicLong();
  private final AtomicLong pulls = new AtomicLong();
  private final AtomicLong staleness = new AtomicLong();

  /// The clocks that each shard, or each part of a tensor, has reported as applied.
  private final AtomicLongArray applied;

  /// The reason of the table's end; null = it has not ended.
  private final AtomicReference<@Nullable String> ended = new AtomicReference<>();

  /// @param units the number of shards, or of parts of a tensor
  /// @param shardOf the shard of each unit
  TableClock(WorkerLinks links, TableSpec spec, int units, IntUnaryOperator shardOf) {
    this.links = links;
    this.spec = spec;
    this.names = new OperationNames(spec.name());
    this.shardOf = shardOf;
    this.synchronous = spec.consistency().isSynchronous();
    this.applied = new AtomicLongArray(units);
  }

  /// Registers the table on all shards. Sets the clock to that of a restored synchronous table.
  public KvHandle<Void> register() throws InterruptedException {
    KvHandle<Void> handle =
        links.handle(
            "register of table '" + spec.name() + "'", begin(KvOp.REGISTER, 0, 0), () -> null);
    byte[] text = spec.text().getBytes(StandardCharsets.UTF_8);
    var memory = new Memory(null, 0, MemorySegment.ofArray(text), null);
    try {
      for (int shard = 0; shard < links.shards(); shard++) {
        int from = shard;
        links.submit(
            new What(KvOp.REGISTER, shard, spec.id(), 0),
            memory,
            handle,
            (reply, written) -> begin(from, reply.applied()));
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  private void begin(int shard, long at) {
    if (at > 0) {
      clock.accumulateAndGet(at, Math::max);
      for (int unit = 0; unit < applied.length(); unit++) {
        if (shardOf.applyAsInt(unit) == shard) {
          applied.accumulateAndGet(unit, at, Math::max);
        }
      }
    }
  }

  /// Advances the worker's clock and notifies the shards, after all waiting requests. In an
  /// asynchronous table the next request carries the clock instead. In a synchronous table each
  /// push advances it.
  public KvHandle<Void> advance() throws InterruptedException {
    long at = synchronous ? clock.get() : clock.incrementAndGet();
    KvHandle<Void> handle =
        links.handle("clock of table '" + spec.name() + "'", begin(KvOp.CLOCK, 0, 0), () -> null);
    try {
      if (spec.consistency().staleness() > 0) {
        int[] shards = IntStream.range(0, applied.length()).map(shardOf).distinct().toArray();
        for (int shard : shards) {
          var what = new What(KvOp.CLOCK, shard, spec.id(), at).withPriority(Integer.MIN_VALUE);
          links.submit(what, NOTHING, handle, (reply, written) -> {});
        }
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  /// Returns the clock of the next request. A push of a synchronous table begins a new clock.
  long next(KvOp op) {
    (op == KvOp.PULL ? pulls : pushes).incrementAndGet();
    if (op == KvOp.PUSH_PULL) {
      pulls.incrementAndGet();
    }
    return op != KvOp.PULL && synchronous ? clock.incrementAndGet() : clock.get();
  }

  /// Returns the clock of a request that inserts or removes rows. Throws `IllegalStateException` if
  /// this worker has pushed to a synchronous table.
  long edit() {
    if (synchronous && pushes.get() > 0) {
      throw new IllegalStateException(
          "table '"
              + spec.name()
              + "' is synchronous, and this worker has pushed to it: insert and remove rows before"
              + " the first push of any worker, or register the table with Consistency.bounded or"
              + " asynchronous");
    }
    return clock.get();
  }

  /// Creates the handle of a push or pull.
  ///
  /// @param requests the number of its requests to shards or parts
  KvHandle<Void> handle(String words, TableOperation operation, KvOp op, long at, int requests) {
    return links.handle(words, operation, () -> null, new WholePush(this, op, at, requests));
  }

  /// Begins an operation of this worker on the table.
  ///
  /// @param rows the number of the rows concerned
  /// @param bytes of the values that are sent or requested
  TableOperation begin(KvOp op, long rows, long bytes) {
    return links.begin(names, op, rows, bytes);
  }

  /// Returns whether each push is sent to all shards, even to those without any of its keys,
  /// because the clocks or the steps of the update rule count the pushes of the table.
  static boolean pushesToAll(TableSpec spec) {
    return spec.consistency().isSynchronous() || UpdateRules.countsSteps(spec.rule());
  }

  /// Returns whether the pushes of all workers at a clock are applied together.
  boolean isSynchronous() {
    return synchronous;
  }

  /// Frees a clock whose push no shard has taken, for the next push. Returns false if another push
  /// has begun since.
  boolean giveBack(long at) {
    return clock.compareAndSet(at, at - 1);
  }

  /// Ends a synchronous table. This worker's requests to it fail from now on. All shards are
  /// notified, so that the other workers learn of the end. A shard that does not answer is notified
  /// again, because its other workers would wait forever.
  void end(String why) {
    if (ended.compareAndSet(null, why)) {
      byte[] text = why.getBytes(StandardCharsets.UTF_8);
      MemorySegment reason =
          MemorySegment.ofArray(Arrays.copyOf(text, Math.min(text.length, MOST_REASON_BYTES)));
      for (int shard = 0; shard < links.shards(); shard++) {
        tellEnd(shard, reason, MOST_TOLD);
      }
    }
  }

  /// Returns the reason of the table's end, or null if this worker knows of none.
  @Nullable String why() {
    return ended.get();
  }

  private void tellEnd(int shard, MemorySegment reason, int times) {
    KvHandle<Void> told =
        links.handle("end of table '" + spec.name() + "'", begin(KvOp.END, 0, 0), () -> null);
    links.follow(
        new What(KvOp.END, shard, spec.id(), 0).withPriority(Integer.MAX_VALUE),
        new Memory(null, 0, reason, null),
        told,
        (reply, written) -> {});
    told.sealed();
    told.whenDone(
        (nothing, cause) -> {
          if (cause instanceof CommException.TimedOut && times > 1) {
            tellEnd(shard, reason, times - 1);
          }
        });
  }

  /// Sends a push or pull to this shard or part. If this worker is too far ahead of the others, the
  /// request waits until they have advanced.
  void send(int unit, What what, Memory memory, KvHandle<?> handle) throws InterruptedException {
    send(unit, what, memory, handle, values -> {});
  }

  /// Sends a push or pull, as above, whose answer the caller processes.
  ///
  /// @param onValues receives the answered values
  void send(
      int unit, What what, Memory memory, KvHandle<?> handle, Consumer<MemorySegment> onValues)
      throws InterruptedException {
    if (handle.isStopped()) {
      return; // because the handle fails anyway
    }
    handle.begun();
    String why = ended.get();
    if (why != null) {
      handle.add();
      handle.failed(
          what,
          KvHandle.Fate.NOT_DONE,
          new CommException.Mismatch(WholePush.ended(handle.words(), why)));
      return;
    }
    long before = what.clock() - ClockWindow.CLOCKS;
    if (!synchronous || what.op() == KvOp.PULL || before <= applied.get(unit)) {
      links.submit(
          what,
          memory,
          handle,
          (reply, written) -> {
            heard(unit, what, reply);
            onValues.accept(written);
          });
      return;
    }
    var wait =
        new What(KvOp.WAIT, what.shard(), what.table(), before)
            .withPart(what.part())
            .withValues(what.values())
            .withPriority(what.priority());
    links.submit(
        wait,
        NOTHING,
        handle,
        (reply, written) -> {
          heard(unit, wait, reply);
          links.follow(
              what,
              memory,
              handle,
              (next, values) -> {
                heard(unit, what, next);
                onValues.accept(values);
              });
        });
  }

  private void heard(int unit, What what, KvReply reply) {
    if (synchronous || what.op() == KvOp.PULL || what.op() == KvOp.PUSH_PULL) {
      heardPull(unit, what.clock(), reply.applied());
    }
  }

  /// Records the clock that a shard or part has reported for a pull at a clock.
  void heardPull(int unit, long at, long told) {
    if (synchronous) {
      applied.accumulateAndGet(unit, told, Math::max);
    } else {
      staleness.accumulateAndGet(at - told, Math::max);
    }
  }

  /// Runs a function on all shards.
  public <R> KvHandle<R> call(KvFunction<R> function) throws InterruptedException {
    MemorySegment payload = new KvCall(function.name(), function.argument()).encode();
    byte[][] results = new byte[links.shards()][];
    KvHandle<R> handle =
        links.handle(
            "function '" + function.name() + "' of table '" + spec.name() + "'",
            begin(KvOp.CALL, 0, payload.byteSize()),
            () -> function.join(Arrays.asList(results)));
    try {
      for (int shard = 0; shard < links.shards(); shard++) {
        int from = shard;
        links.submit(
            new What(KvOp.CALL, shard, spec.id(), 0),
            new Memory(null, 0, payload, null),
            handle,
            (reply, written) -> results[from] = reply.values().toArray(JAVA_BYTE));
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  /// Runs a change on all shards.
  public KvHandle<Void> change(KvChange change) throws InterruptedException {
    if (synchronous) {
      throw new IllegalStateException(
          "table '"
              + spec.name()
              + "' is synchronous: its clocks are the pushes of all workers; register it with"
              + " Consistency.bounded or asynchronous to change it");
    }
    MemorySegment payload = new KvCall(change.name(), change.argument()).encode();
    long at = next(KvOp.CHANGE);
    KvHandle<Void> handle =
        handle(
            "change '" + change.name() + "' of table '" + spec.name() + "'",
            begin(KvOp.CHANGE, 0, payload.byteSize()),
            KvOp.CHANGE,
            at,
            links.shards());
    try {
      for (int shard = 0; shard < links.shards() && !handle.isStopped(); shard++) {
        handle.begun();
        links.submit(
            new What(KvOp.CHANGE, shard, spec.id(), at),
            new Memory(null, 0, payload, null),
            handle,
            (reply, written) -> {});
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  /// Returns the clock of this worker's next push.
  public long nextPush() {
    return synchronous ? clock.get() + 1 : clock.get();
  }

  /// Changes parameters of the update rule on all shards, before the requests that wait to be sent.
  public KvHandle<Void> rule(RuleSchedule.Change change) throws InterruptedException {
    MemorySegment line = MemorySegment.ofArray(change.text().getBytes(StandardCharsets.UTF_8));
    KvHandle<Void> handle =
        links.handle(
            "change of the rule of table '" + spec.name() + "'",
            begin(KvOp.RULE, 0, line.byteSize()),
            () -> null);
    try {
      for (int shard = 0; shard < links.shards(); shard++) {
        links.submit(
            new What(KvOp.RULE, shard, spec.id(), clock.get()).withPriority(Integer.MAX_VALUE),
            new Memory(null, 0, line, null),
            handle,
            (reply, written) -> {});
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  /// Returns the statistics of the table on all shards.
  public KvHandle<TableStatistics> statistics() throws InterruptedException {
    var sum = new AtomicReference<>(TableStatistics.NONE);
    return statistics(sum::get, (server, its) -> sum.accumulateAndGet(its, TableStatistics::plus));
  }

  /// Returns the statistics of the table by the rank of the server, of servers that have shards.
  public KvHandle<Map<Integer, TableStatistics>> statisticsByServer() throws InterruptedException {
    Map<Integer, TableStatistics> all = new ConcurrentSkipListMap<>();
    return statistics(
        () -> Map.copyOf(all), (server, its) -> all.merge(server, its, TableStatistics::plus));
  }

  private <T> KvHandle<T> statistics(
      Supplier<T> result, BiConsumer<Integer, TableStatistics> onShard)
      throws InterruptedException {
    KvHandle<T> handle =
        links.handle(
            "statistics of table '" + spec.name() + "'", begin(KvOp.STATISTICS, 0, 0), result);
    try {
      for (int shard = 0; shard < links.shards(); shard++) {
        int of = shard;
        links.submit(
            new What(KvOp.STATISTICS, shard, spec.id(), 0),
            NOTHING,
            handle,
            (reply, written) ->
                onShard.accept(links.server(of), TableStatistics.parse(reply.text())));
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  /// Returns the counters of this worker.
  public TableCounts counts() {
    return new TableCounts(pushes.get(), pulls.get(), staleness.get());
  }
}
