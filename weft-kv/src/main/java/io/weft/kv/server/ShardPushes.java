// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.frame.ClockWindow;
import io.weft.kv.server.ShardTable.Subject;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The received pushes of a shard, and the pushes of synchronous tables that wait for those of
/// other workers. Confined to the shard's thread.
final class ShardPushes {

  private final ShardContext context;
  private final ShardSaves saves;
  private final Consumer<ShardTable> ended;
  private final KeptMemory memory = new KeptMemory();
  private final NumberWindow[] seen;

  /// @param ended is notified of a table that has ended because a clock could not be applied
  ShardPushes(ShardContext context, ShardSaves saves, Consumer<ShardTable> ended) {
    this.context = context;
    this.saves = saves;
    this.ended = ended;
    this.seen = new NumberWindow[context.workers().size()];
    clear();
  }

  /// Forgets all received pushes.
  void clear() {
    Arrays.setAll(seen, i -> new NumberWindow());
  }

  /// Returns the received pushes by worker, for `take`.
  List<byte[]> windows() {
    return Arrays.stream(seen).map(NumberWindow::export).toList();
  }

  /// Takes over the received pushes of a worker from another server.
  void take(int worker, MemorySegment window) {
    seen[worker].take(window);
  }

  /// Marks a push or change and returns whether it is new.
  boolean isNew(Pending it) throws Refusal {
    try {
      return seen[it.worker()].isNew(it.head().number(), it.head().settled());
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
  }

  /// Applies a push that is new, or keeps it until all workers have pushed at its clock. Returns
  /// the number of applied clocks, or 0 for a table that is not synchronous. Inserts or removes
  /// rows at once.
  long push(Pending it, ShardTable table, Subject subject, MemorySegment values) throws Refusal {
    boolean isNew = isNew(it);
    table.changed();
    if (it.head().op().editsRows()) {
      if (isNew) {
        table.edit(it.head(), subject, values);
      }
      return 0;
    }
    if (table.spec().consistency().isSynchronous()) {
      return keep(it, table, subject, isNew ? values : null);
    }
    if (isNew) {
      table.apply(subject, values, it.head().clock());
    }
    return 0;
  }

  /// Drops the waiting pushes of a table that has ended.
  void end(ShardTable table) {
    for (PushRounds<KeptPush> rounds : table.allRounds()) {
      rounds.end().forEach(this::release);
    }
  }

  private void release(KeptPush push) {
    context.memory().budget().release(push.bytes());
    memory.giveBack(push);
  }

  /// Takes over a waiting push from another server.
  void takeKept(Pending it, ShardTable table) throws Refusal {
    if (table.hasEnded()) {
      return;
    }
    MemorySegment payload = it.payload();
    Subject subject = table.subject(it.head(), payload);
    if (subject != null) {
      long unused = keep(it, table, subject, table.values(it.head(), subject, payload));
    }
  }

  /// Keeps a push until all workers have pushed at its clock, and applies complete clocks. Returns
  /// the number of applied clocks.
  ///
  /// @param values null if they were kept before
  private long keep(Pending it, ShardTable table, Subject subject, @Nullable MemorySegment values)
      throws Refusal {
    PushRounds<KeptPush> rounds = table.rounds(subject);
    if (values == null) {
      return rounds.applied();
    }
    long clock = it.head().clock();
    switch (rounds.place(clock)) {
      case LATE -> rounds.drop();
      case EARLY ->
          throw new Refusal(
              "a push of clock %d, while clock %d was applied; a worker is at most %d ahead"
                  .formatted(clock, rounds.applied(), ClockWindow.CLOCKS));
      case KEPT -> {
        long bytes = values.byteSize();
        context.memory().budget().reserve("pushes of clock " + clock, bytes);
        var push = new KeptPush(subject, memory.take(bytes), values);
        KeptPush before = rounds.keep(it.worker(), clock, push);
        if (before != null) {
          release(before);
        }
        applyComplete(table, rounds);
      }
    }
    return rounds.applied();
  }

  /// Applies the clocks at which all workers have pushed.
  void applyComplete(ShardTable table, PushRounds<KeptPush> rounds) throws Refusal {
    List<KeptPush> complete = rounds.takeComplete();
    while (complete != null) {
      try {
        table.applyClock(complete, rounds.applied());
      } finally {
        complete.forEach(this::release);
        if (table.hasEnded()) {
          ended.accept(table);
        }
      }
      complete = rounds.takeComplete();
    }
    if (saves.reached(table)) {
      applyComplete(table); // the pushes that waited for the cut
    }
  }

  /// Applies the complete clocks of all rows or parts.
  void applyComplete(ShardTable table) throws Refusal {
    for (PushRounds<KeptPush> rounds : table.allRounds()) {
      applyComplete(table, rounds);
    }
    if (saves.reached(table)) { // for a tensor without a part on this shard
      applyComplete(table);
    }
  }
}
