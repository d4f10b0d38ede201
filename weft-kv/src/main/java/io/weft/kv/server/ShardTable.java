// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.checkpoint.ShardFile.Content;
import io.weft.kv.frame.KvHead;
import io.weft.kv.function.ShardValues.ValuesVisitor;
import io.weft.kv.rule.RuleSchedule;
import io.weft.kv.rule.UpdateRule;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.table.TableSink;
import io.weft.kv.table.TableSnapshot;
import io.weft.kv.table.TableStorage;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.Kernels;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// One shard's part of a table: its content, and its waiting requests. Confined to the shard's
/// thread.
abstract sealed class ShardTable permits KeyedTable, PartsTable {

  private final TableSpec spec;
  private final ShardContext context;
  private final Clocks clocks;
  private final RuleSchedule rules;
  private final ArrayDeque<Pending> parked = new ArrayDeque<>();
  private boolean changed;
  private @Nullable String ended;

  /// The id and the table's step of the last checkpoint, and the number of rows removed before it.
  private String cutId = "";

  private long cutStep;
  private long cutRemoved;

  ShardTable(TableSpec spec, ShardContext context) {
    this.spec = spec;
    this.context = context;
    this.rules = new RuleSchedule(spec.rule());
    this.clocks = new Clocks(context.workers().size(), spec.consistency().staleness());
  }

  /// Creates rounds that do not wait for workers that have left.
  final PushRounds<KeptPush> newRounds() {
    var rounds = new PushRounds<KeptPush>(context.workers().size(), spec.consistency());
    for (int worker = 0; worker < context.workers().size(); worker++) {
      if (clocks.hasLeft(worker)) {
        rounds.leave(worker);
      }
    }
    return rounds;
  }

  /// Excludes a worker, so that no request waits for it any more.
  final void leave(int worker) {
    clocks.leave(worker);
    allRounds().forEach(rounds -> rounds.leave(worker));
  }

  /// The keys or part of a valid request.
  interface Subject {

    /// Returns the bytes of the values that a push contains or a pull returns.
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

  /// Returns the pulls, waits and first values that are not answered yet, in order.
  final ArrayDeque<Pending> parked() {
    return parked;
  }

  /// Reads the keys or part of a request; null stands for a list that is not kept here. Throws
  /// `Refusal` with the reason if the request is invalid.
  abstract @Nullable Subject subject(KvHead head, MemorySegment payload) throws Refusal;

  /// Returns the values in the payload of a push.
  abstract MemorySegment values(KvHead head, Subject subject, MemorySegment payload) throws Refusal;

  /// Returns the rounds of the keys or part, for a synchronous table.
  abstract PushRounds<KeptPush> rounds(Subject subject);

  abstract List<PushRounds<KeptPush>> allRounds();

  /// Makes `allRounds` complete, by adding the rounds of all parts of this shard, used or not.
  void complete(int shard) {}

  /// Sets the first values of a tensor's part, if the request is from the first worker. Returns
  /// whether the part now has its first values.
  boolean init(Pending it) throws Refusal {
    throw new Refusal("rows have the initial values that their table was registered with");
  }

  /// Applies a push of a worker's clock.
  abstract void apply(Subject subject, MemorySegment values, long clock) throws Refusal;

  /// Throws `Refusal` with the reason if rows cannot be inserted or removed now.
  void checkEdit() throws Refusal {
    throw new Refusal("rows are inserted into and removed from tables of rows only");
  }

  /// Inserts or removes the rows of a request.
  void edit(KvHead head, Subject subject, MemorySegment values) throws Refusal {
    checkEdit();
  }

  /// Returns the rule by which a push of a worker's clock is applied.
  final UpdateRule rule(long clock) {
    return rules.at(clock);
  }

  /// Changes parameters of the rule. In a synchronous table the change begins after the last clock
  /// for which the shard has a push; primary and mirror begin at the same clock. Throws
  /// `IllegalArgumentException` if the change is invalid.
  ///
  /// @param now the clock of the worker that changes the rule
  final void change(RuleSchedule.Change change, long now) {
    long from = change.from();
    if (spec.consistency().isSynchronous()) {
      for (PushRounds<KeptPush> rounds : allRounds()) {
        from = Math.max(from, rounds.begun() + 1);
      }
    }
    rules.add(new RuleSchedule.Change(from, change.parameters()), now);
  }

  /// Returns the changes of the rule, by clock.
  final List<RuleSchedule.Change> ruleChanges() {
    return rules.changes();
  }

  /// Returns the changes of the rule for a checkpoint, after whose restore the clocks of a table
  /// that is not synchronous begin again.
  final List<RuleSchedule.Change> savedRuleChanges() {
    return spec.consistency().isSynchronous()
        ? rules.changes()
        : rules.changesFrom(clocks.slowest());
  }

  /// Applies the pushes of one clock, which were acknowledged when they were kept. If they cannot
  /// be applied the table ends, because later pushes would lack them.
  final void applyClock(List<KeptPush> pushes, long clock) throws Refusal {
    try {
      applyAll(pushes, clock);
    } catch (Refusal | RuntimeException failed) {
      end(
          "rank %d: clock %d could not be applied: %s; later clocks would lack it: start again from the last checkpoint"
              .formatted(context.rank(), clock, failed.getMessage()));
      throw Refusal.ended(why());
    }
  }

  /// Ends the table. It accepts no more pushes and pulls, because its values would be incomplete.
  /// The first reason counts.
  final void end(String why) {
    if (ended == null) {
      ended = why;
    }
  }

  final boolean hasEnded() {
    return ended != null;
  }

  /// Returns the reason of the end, or an empty text.
  final String why() {
    String its = ended;
    return its == null ? "" : its;
  }

  /// Throws `Refusal` if the table has ended.
  final void checkNotEnded() throws Refusal {
    if (hasEnded()) {
      throw Refusal.ended(why());
    }
  }

  /// Applies the pushes of one clock, added in this order.
  abstract void applyAll(List<KeptPush> pushes, long clock) throws Refusal;

  /// Evicts rows by the table's retention and reports their keys to `gone`. Called only on the
  /// primary, which notifies the mirror.
  void sweep(int keys, LongConsumer gone) {}

  /// Removes these rows.
  ///
  /// @param keys 8 bytes each
  void remove(MemorySegment keys) throws Refusal {
    throw new Refusal("it has no rows to evict");
  }

  /// Marks all rows as used now, because earlier pulls are not known.
  void allUsed() {}

  /// Writes the current values to `into`, of `valueBytes` bytes.
  abstract void read(Subject subject, MemorySegment into) throws Refusal;

  /// Returns the content, which checkpoints, mirrors, restore and statistics use.
  abstract TableStorage storage();

  /// Returns the rows that a file must contain to be complete together with the checkpoint of this
  /// id.
  Content contentAfter(String base) {
    return !base.isEmpty() && base.equals(cutId) && cutRemoved == storage().removed()
        ? Content.CHANGED
        : Content.FULL;
  }

  /// Begins a copy of the content for a file, which is written in parts while the table changes.
  ///
  /// @param id of the checkpoint, which later ones may be based on
  final TableSnapshot cut(String id, Content content, TableSink into) {
    TableSnapshot cut = storage().snapshot(content == Content.FULL ? 0 : cutStep + 1, into);
    cutId = id;
    cutStep = step();
    cutRemoved = storage().removed();
    return cut;
  }

  /// Visits the rows, or the parts that were pushed, pulled or given first values.
  abstract void forEach(ValuesVisitor visitor);

  /// Begins a change, which counts as a step.
  abstract void beginChange();

  /// Changes the values at a key or from an element on. Their slots do not change. Throws
  /// `IllegalArgumentException` for an invalid place or length.
  abstract void put(long at, MemorySegment values, How how);

  enum How {
    /// Replaces the values.
    ASSIGN,
    /// Adds to the values.
    ADD
  }

  /// Adds `put` to the values of one row, one value or some elements of a tensor, in place.
  static MemorySegment sum(MemorySegment there, MemorySegment put) {
    Kernels.reducer(DType.FLOAT32, ReduceOp.SUM).reduce(there, 0, put, 0, put.byteSize() / 4);
    return there;
  }

  abstract int keyCount(Subject subject);

  /// Writes the keys, 8 bytes each.
  abstract void writeKeys(Subject subject, MemorySegment into);

  /// Returns the part of a tensor; 0 for rows.
  abstract int part(Subject subject);

  /// Returns the number of the last update.
  abstract long step();

  /// Raises the number of the last update to at least this number.
  abstract void step(long atLeast);

  /// Records that a checkpoint contained values of this part, as of a clock.
  void restored(int part, long clock) {}

  /// Visits clock and step of the rows, or of each existing part.
  abstract void states(StateVisitor visitor);

  /// Takes over a state visited by `states` on another server.
  abstract void take(int part, long clock, long step, boolean initialized) throws Refusal;

  /// A visitor of the state of rows or of a part.
  interface StateVisitor {

    /// @param initialized true if the part has its first values
    void state(int part, boolean initialized, long step, PushRounds<KeptPush> rounds);
  }

  final boolean isChanged() {
    return changed;
  }

  final void changed() {
    changed = true;
  }

  /// Returns whether a pull of a worker at this clock may be answered.
  final boolean lets(Subject subject, long clock) {
    return spec.consistency().isSynchronous() ? rounds(subject).lets(clock) : clocks.lets(clock);
  }

  /// Takes the worker's clock from a request in an asynchronous table, where no separate request
  /// reports it.
  final void hear(Pending it) {
    hear(it.worker(), it.head().clock());
  }

  final void hear(int worker, long clock) {
    if (spec.consistency().staleness() == Consistency.ASYNCHRONOUS) {
      clocks.advance(worker, clock);
    }
  }

  /// Reads the keys or part of a request; null stands for a list of keys that is not kept here.
  final @Nullable Subject read(Pending it) throws Refusal {
    hear(it);
    return subject(it.head(), it.payload());
  }

  /// Returns the reason for which a worker's pull at this clock waits.
  final String waitsFor(Subject subject, long clock) {
    if (lets(subject, clock)) {
      return "it waits for nothing there: the shard is behind, or the answers that the worker has"
          + " not taken yet fill its share of kv-reply-memory";
    }
    if (spec.consistency().isSynchronous()) {
      PushRounds<KeptPush> rounds = rounds(subject);
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

  /// Returns the clock to report in an answer: the number of applied clocks for a synchronous
  /// table, otherwise the lesser of the slowest worker's clock and the requester's.
  final long clockToTell(Subject subject, long clock) {
    return spec.consistency().isSynchronous()
        ? rounds(subject).applied()
        : Math.min(clock, clocks.slowest());
  }
}
