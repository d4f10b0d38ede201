// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.checkpoint.ShardFile.Content;
import io.weft.kv.frame.KvHead;
import io.weft.kv.function.ShardValues.ValuesVisitor;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TableStatistics;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.Kernels;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// One table's part on one shard: its content, and who waits for what. Confined to the shard's
/// thread.
abstract sealed class ShardTable permits KeyedTable, PartsTable {

  private final TableSpec spec;
  private final ShardContext context;
  private final Clocks clocks;
  private final ArrayDeque<Pending> parked = new ArrayDeque<>();
  private boolean changed;
  private @Nullable String ended;

  ShardTable(TableSpec spec, ShardContext context) {
    this.spec = spec;
    this.context = context;
    this.clocks = new Clocks(context.workers().size(), spec.consistency().staleness());
  }

  /// Rounds in which nobody waits for workers that have left.
  final Rounds<KeptPush> newRounds() {
    var rounds = new Rounds<KeptPush>(context.workers().size(), spec.consistency());
    for (int worker = 0; worker < context.workers().size(); worker++) {
      if (clocks.hasLeft(worker)) {
        rounds.leave(worker);
      }
    }
    return rounds;
  }

  /// Nobody waits for this worker any more.
  final void leave(int worker) {
    clocks.leave(worker);
    allRounds().forEach(rounds -> rounds.leave(worker));
  }

  /// What a request is about, once it was read and found to be right.
  interface Subject {

    /// Bytes of the values that a push of it has, or a pull gives.
    long valueBytes();
  }

  final TableSpec spec() {
    return spec;
  }

  final ShardContext context() {
    return context;
  }

  final Clocks clocks() {
    return clocks;
  }

  /// Pulls that are not answered yet, in order.
  final ArrayDeque<Pending> parked() {
    return parked;
  }

  /// Reads which keys or part a request is about; null = a list that is not kept here. Throws
  /// `Refusal` with what is wrong.
  abstract @Nullable Subject subject(KvHead head, MemorySegment payload) throws Refusal;

  /// The values in the payload of a push.
  abstract MemorySegment values(KvHead head, Subject subject, MemorySegment payload) throws Refusal;

  /// The rounds of what this is about, of a synchronous table.
  abstract Rounds<KeptPush> rounds(Subject subject);

  /// All rounds there are.
  abstract List<Rounds<KeptPush>> allRounds();

  /// From here on `allRounds` is complete: what this shard has of the table is there, also what
  /// nobody has asked for yet.
  void complete(int shard) {}

  /// Applies a push.
  abstract void apply(Subject subject, MemorySegment values) throws Refusal;

  /// Applies the pushes of one clock, which were acknowledged when they were kept. Where they
  /// cannot be applied the table ends: whatever followed would lack them.
  final void applyClock(List<KeptPush> pushes, long clock) throws Refusal {
    try {
      applyAll(pushes);
    } catch (Refusal | RuntimeException failed) {
      end(
          "rank %d: clock %d could not be applied: %s; all that follows would lack that clock: start again from the last checkpoint"
              .formatted(context.rank(), clock, failed.getMessage()));
      throw Refusal.ended(why());
    }
  }

  /// Nothing more is pushed or pulled, since what follows would lack something. The first reason
  /// counts.
  final void end(String why) {
    if (ended == null) {
      ended = why;
    }
  }

  /// Whether it has ended.
  final boolean hasEnded() {
    return ended != null;
  }

  /// Why it has ended; empty where it has not.
  final String why() {
    String its = ended;
    return its == null ? "" : its;
  }

  /// Throws `Refusal` where it has ended.
  final void checkNotEnded() throws Refusal {
    if (hasEnded()) {
      throw Refusal.ended(why());
    }
  }

  /// Applies the pushes of one clock, added in this order.
  abstract void applyAll(List<KeptPush> pushes) throws Refusal;

  /// Lets rows go that the table shall not keep; `gone` hears their keys. Only where the shard is
  /// served: a mirror is told which ones.
  void sweep(int keys, LongConsumer gone) {}

  /// Lets these rows go.
  ///
  /// @param keys 8 bytes each
  void remove(MemorySegment keys) throws Refusal {
    throw new Refusal("it has no rows that go");
  }

  /// All that is here counts as used now: what was pulled before is not known.
  void allUsed() {}

  /// Writes what there is to `into`, `valueBytes` long.
  abstract void read(Subject subject, MemorySegment into) throws Refusal;

  /// Which rows a file must have so that it and the checkpoint of this id are all there is.
  abstract Content contentAfter(String base);

  /// What there is now, to be written in parts while the table goes on.
  ///
  /// @param id of the checkpoint, which later ones may begin at
  abstract Cut cut(String id, Content content, ShardSink into);

  /// All there is now, to be copied in parts while the table goes on.
  abstract Cut copy(ShardSink into);

  /// Shows rows, or parts that were pushed, pulled or given first values.
  abstract void forEach(ValuesVisitor visitor);

  /// A change begins, which is a step of its own.
  abstract void beginChange();

  /// Changes values from a key or element on, their slots stay. Throws `IllegalArgumentException`
  /// for a place or length that cannot be.
  abstract void put(long at, MemorySegment values, How how);

  /// How values are put.
  enum How {
    /// In the place of those that are there.
    ASSIGN,
    /// Added to them.
    ADD
  }

  /// The values of one row or value, or of a stretch of a tensor: those that are there, and what is
  /// put.
  static MemorySegment sum(MemorySegment there, MemorySegment put) {
    Kernels.reducer(DType.FLOAT32, ReduceOp.SUM).reduce(there, 0, put, 0, put.byteSize() / 4);
    return there;
  }

  /// What there is.
  abstract TableStatistics statistics();

  /// How many keys a push has.
  abstract int keyCount(Subject subject);

  /// Writes them, 8 bytes each.
  abstract void writeKeys(Subject subject, MemorySegment into);

  /// Which part of a tensor it is; 0 of rows.
  abstract int part(Subject subject);

  /// The number of the last update.
  abstract long step();

  /// The number of the last update is at least this one.
  abstract void step(long atLeast);

  /// Takes what a file has. Throws `Refusal` if it cannot be of this table.
  abstract void load(int part, long at, MemorySegment content) throws Refusal;

  /// A checkpoint had values of this part.
  void restored(int part) {}

  /// Shows clock and step of its rows, or of each part that there is.
  abstract void states(StateVisitor visitor);

  /// Takes what `states` of another server has shown.
  abstract void take(int part, long clock, long step, boolean initialized) throws Refusal;

  /// Sees the state of rows or of a part.
  interface StateVisitor {

    /// @param initialized whether the part has its first values
    void state(int part, boolean initialized, long step, Rounds<KeptPush> rounds);
  }

  /// What a table had at one moment.
  interface Cut {

    /// Writes some of it; whether that was all. Throws `RowStoreException` where rows on the disk
    /// cannot be read.
    boolean advance();

    /// Ends it.
    void close();
  }

  /// Whether there were pushes.
  final boolean isChanged() {
    return changed;
  }

  /// There was a push.
  final void changed() {
    changed = true;
  }

  /// Whether a pull of a worker at this clock may be answered.
  final boolean lets(Subject subject, long clock) {
    return spec.consistency().isSynchronous() ? rounds(subject).lets(clock) : clocks.lets(clock);
  }

  /// Where nobody waits, no request tells of a clock alone: each of the others does.
  final void hear(Pending it) {
    if (spec.consistency().staleness() == Consistency.ASYNCHRONOUS) {
      clocks.advance(it.worker(), it.head().clock());
    }
  }

  /// What a pull of a worker at this clock waits for, in words.
  final String waitsFor(Subject subject, long clock) {
    if (lets(subject, clock)) {
      return "it waits for nothing there: the shard is behind, or the answers that the worker has"
          + " not taken yet fill its share of kv-reply-memory";
    }
    if (spec.consistency().isSynchronous()) {
      Rounds<KeptPush> rounds = rounds(subject);
      return "it waits for clock %d, and clock %d lacks the pushes of ranks %s: see whether they go on"
          .formatted(clock, rounds.applied() + 1, ranks(rounds.missing()));
    }
    long least = clock - spec.consistency().staleness();
    return "at clock %d it waits until all workers are at clock %d, and ranks %s are not: see whether they go on, and call clock()"
        .formatted(clock, least, ranks(clocks.below(least)));
  }

  private List<Integer> ranks(List<Integer> positions) {
    return positions.stream().map(context.workers()::get).toList();
  }

  /// What an answer tells of clocks: those that a synchronous table has applied; of others, where
  /// the slowest worker is, at most where the one who asks is.
  final long clockToTell(Subject subject, long clock) {
    return spec.consistency().isSynchronous()
        ? rounds(subject).applied()
        : Math.min(clock, clocks.slowest());
  }

  /// Frees its memory.
  abstract void close();

  /// A push that waits for those of other workers; in memory of its own.
  ///
  /// @param subject keys or part
  /// @param values copied
  /// @param bytes taken from the budget
  record KeptPush(Subject subject, MemorySegment values, long bytes) {}
}
