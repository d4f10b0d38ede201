// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.frame.Ahead;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.server.ShardTable.KeptPush;
import io.weft.kv.server.ShardTable.Subject;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.table.MemoryBudgetException;
import io.weft.tensor.TensorLease;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One shard: a part of every table. What is wrong with a request is its answer; nothing that comes
/// in ends the server. Confined to its thread.
final class Shard {

  private static final Logger LOG = LoggerFactory.getLogger(Shard.class);

  /// Before the content of `LOAD`: where it belongs, and the table's step.
  private static final long LOAD_HEAD_BYTES = 16;

  private final int number;
  private final ShardContext context;
  private final Runnable wake;
  private final Map<Long, ShardTable> tables = new HashMap<>();
  private final NumberWindow[] pushes;
  private final ShardSaves saves;

  /// Requests whose answers find no memory, in order.
  private final ArrayDeque<Pending> unanswered = new ArrayDeque<>();

  /// @param wake any thread: memory of answers is free again
  Shard(int number, ShardContext context, Runnable wake) {
    this.number = number;
    this.context = context;
    this.wake = wake;
    this.saves = new ShardSaves(number, context, wake);
    this.pushes = new NumberWindow[context.workers().size()];
    for (int i = 0; i < pushes.length; i++) {
      pushes[i] = new NumberWindow();
    }
  }

  /// Does what is asked and answers, now or later.
  void serve(IncomingRequest request, KvHead head) {
    int worker = context.worker(request.fromRank());
    var it = new Pending(request, head, worker);
    try {
      if (worker < 0) {
        throw new Refusal("rank " + request.fromRank() + " is no worker");
      }
      serve(it);
    } catch (Refusal | MemoryBudgetException why) {
      refuse(it, String.valueOf(why.getMessage()));
    } catch (RuntimeException | Error defect) {
      LOG.error("shard {} of rank {}: {} failed", number, context.rank(), head, defect);
      refuse(it, "it failed there: " + defect);
    }
  }

  private void refuse(Pending it, String why) {
    ShardTable table = tables.get(it.head().table());
    String about = table == null ? "" : "table '" + table.spec().name() + "', ";
    it.request()
        .reply(
            KvReply.refused(
                    "%sshard %d, %s of rank %d: %s"
                        .formatted(about, number, it.head().op(), it.request().fromRank(), why))
                .encode());
  }

  private void serve(Pending it) throws Refusal {
    switch (it.head().op()) {
      case REGISTER -> register(it);
      case PUSH, PUSH_PULL -> push(it);
      case PULL -> pull(it);
      case CLOCK -> clock(it);
      case WAIT -> await(it);
      case HOLD -> done(it, saves.hold(table(it.head()), it.worker()));
      case CUT -> {
        ShardTable table = table(it.head());
        saves.cut(it, table);
        applyComplete(table);
        resume(table);
      }
      case RELEASE -> {
        ShardTable table = table(it.head());
        saves.release(table);
        applyComplete(table);
        done(it, 0);
        resume(table);
      }
      case LOAD -> load(it);
      case INIT -> init(it);
    }
  }

  private ShardTable table(KvHead head) throws Refusal {
    ShardTable table = tables.get(head.table());
    if (table == null) {
      throw new Refusal(
          "there is no table %016x; register it first, on every worker".formatted(head.table()));
    }
    return table;
  }

  private static void done(Pending it, long applied) {
    it.request().reply(KvReply.done(applied).encode());
  }

  // --- tables

  private void register(Pending it) throws Refusal {
    MemorySegment text = it.request().payload();
    if (text.byteSize() > TableSpec.MAX_TEXT_BYTES) {
      throw new Refusal("a specification of " + text.byteSize() + " bytes");
    }
    TableSpec spec;
    ShardTable known;
    try {
      spec = TableSpec.parse(new String(text.toArray(JAVA_BYTE), StandardCharsets.UTF_8));
      if (spec.id() != it.head().table()) {
        throw new IllegalArgumentException("the name of another table");
      }
      known = tables.get(spec.id());
      if (known == null) {
        tables.put(spec.id(), make(spec));
      } else if (!known.spec().text().equals(spec.text())) {
        throw new IllegalArgumentException(
            "registered as [%s], now as [%s]; all workers register the same"
                .formatted(line(known.spec()), line(spec)));
      }
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
    done(it, known == null ? 0 : clock(known));
  }

  private static long clock(ShardTable table) {
    long clock = 0;
    for (Rounds<KeptPush> rounds : table.allRounds()) {
      clock = Math.max(clock, rounds.applied());
    }
    return clock;
  }

  /// Takes a part of a checkpoint, before the first push.
  private void load(Pending it) throws Refusal {
    ShardTable table = table(it.head());
    KvHead head = it.head();
    if (table.isChanged()) {
      throw new Refusal("there were pushes already; a checkpoint is restored before the first");
    }
    MemorySegment payload = it.request().payload();
    if (payload.byteSize() < LOAD_HEAD_BYTES) {
      throw new Refusal("a part of a checkpoint of " + payload.byteSize() + " bytes");
    }
    long at = payload.get(JAVA_LONG_UNALIGNED, 0);
    table.load(head.part(), at, payload.asSlice(LOAD_HEAD_BYTES));
    table.step(payload.get(JAVA_LONG_UNALIGNED, 8));
    for (Rounds<KeptPush> rounds : table.allRounds()) {
      rounds.begin(Math.max(rounds.applied(), head.clock()));
    }
    done(it, 0);
  }

  private static String line(TableSpec spec) {
    return spec.text().replace('\n', ' ');
  }

  private ShardTable make(TableSpec spec) {
    return switch (spec.kind()) {
      case ROWS -> new RowsTable(spec, context);
      case TENSOR -> new PartsTable(spec, context);
    };
  }

  private void init(Pending it) throws Refusal {
    if (!(table(it.head()) instanceof PartsTable table)) {
      throw new Refusal("rows have the initial values that their table was registered with");
    }
    if (table.init(it, table.subject(it.head(), it.request().payload()))) {
      done(it, 0);
      resume(table);
    } else {
      table.parked().add(it);
    }
  }

  // --- pushes

  private void push(Pending it) throws Refusal {
    KvHead head = it.head();
    ShardTable table = table(head);
    table.hear(it);
    Subject subject = table.subject(head, it.request().payload());
    if (subject == null) {
      unknown(it);
      return;
    }
    MemorySegment values = table.values(head, subject, it.request().payload());
    boolean isNew;
    try {
      isNew = pushes[it.worker()].isNew(head.number(), head.settled());
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
    table.changed();
    long told = 0;
    if (table.spec().consistency().isSynchronous()) {
      told = keep(it, table, subject, isNew ? values : null);
    } else if (isNew) {
      table.apply(subject, values);
    }
    if (head.op() == KvOp.PUSH_PULL) {
      pull(it);
    } else {
      done(it, told);
    }
    resume(table);
  }

  /// @param values null = they were kept before
  private long keep(Pending it, ShardTable table, Subject subject, @Nullable MemorySegment values)
      throws Refusal {
    Rounds<KeptPush> rounds = table.rounds(subject);
    if (values == null) {
      return rounds.applied();
    }
    long clock = it.head().clock();
    switch (rounds.place(clock)) {
      case LATE -> rounds.drop();
      case EARLY ->
          throw new Refusal(
              "a push of clock %d, while clock %d was applied; a worker is at most %d ahead"
                  .formatted(clock, rounds.applied(), Ahead.CLOCKS));
      case KEPT -> {
        long bytes = values.byteSize();
        context.budget().reserve("pushes of clock " + clock, bytes);
        MemorySegment copy = Arena.ofAuto().allocate(Math.max(1, bytes), 64).asSlice(0, bytes);
        copy.copyFrom(values);
        KeptPush before = rounds.keep(it.worker(), clock, new KeptPush(subject, copy, bytes));
        if (before != null) {
          context.budget().release(before.bytes());
        }
        applyComplete(table, rounds);
      }
    }
    return rounds.applied();
  }

  private void applyComplete(ShardTable table, Rounds<KeptPush> rounds) throws Refusal {
    List<KeptPush> complete = rounds.takeComplete();
    while (complete != null) {
      try {
        table.applyAll(complete);
      } finally {
        for (KeptPush each : complete) {
          context.budget().release(each.bytes());
        }
      }
      complete = rounds.takeComplete();
    }
    if (saves.reached(table)) {
      applyComplete(table); // what has waited for the cut: its workers may send nothing more
    }
  }

  private void applyComplete(ShardTable table) throws Refusal {
    for (Rounds<KeptPush> rounds : table.allRounds()) {
      applyComplete(table, rounds);
    }
  }

  /// Whether something of a checkpoint is not written yet.
  boolean isSaving() {
    return saves.isSaving();
  }

  /// Writes some of it; whether there was something to do.
  boolean save() {
    return saves.slice();
  }

  private static void unknown(Pending it) {
    it.request().reply(new KvReply(KvReply.Status.UNKNOWN_LIST, 0, "").encode());
  }

  // --- pulls

  private void pull(Pending it) throws Refusal {
    ShardTable table = table(it.head());
    table.hear(it);
    Subject subject = table.subject(it.head(), it.request().payload());
    if (subject == null) {
      unknown(it);
    } else if (table.lets(subject, it.head().clock())) {
      answer(it, table, subject);
    } else {
      table.parked().add(it);
    }
  }

  private void answer(Pending it, ShardTable table, Subject subject) throws Refusal {
    long bytes = subject.valueBytes();
    if (it.request().intoBytes() < bytes) {
      throw new Refusal(
          "%d bytes to be answered, and room for %d".formatted(bytes, it.request().intoBytes()));
    }
    long told = table.clockToTell(subject, it.head().clock());
    if (bytes == 0) {
      done(it, told);
      return;
    }
    TensorLease lease = context.replies().tryLease(it.worker(), bytes);
    if (lease == null) {
      unanswered.add(it);
      return;
    }
    MemorySegment into = lease.view().data().asSlice(0, bytes);
    Runnable release =
        () -> {
          context.replies().release(it.worker(), bytes, lease);
          wake.run();
        };
    try {
      table.read(subject, into);
    } catch (Refusal | RuntimeException | Error refused) {
      release.run();
      throw refused;
    }
    it.request().reply(KvReply.done(told).encode(), into, release);
  }

  private void await(Pending it) throws Refusal {
    ShardTable table = table(it.head());
    Subject subject = table.subject(it.head(), it.request().payload());
    if (subject == null) {
      unknown(it);
    } else if (table.lets(subject, it.head().clock())) {
      done(it, it.head().clock());
    } else {
      table.parked().add(it);
    }
  }

  /// Memory of answers is free again: those that waited for it go on.
  void resume() {
    int waiting = unanswered.size();
    for (int i = 0; i < waiting; i++) {
      again(unanswered.remove());
    }
  }

  private void resume(ShardTable table) {
    int waiting = table.parked().size();
    for (int i = 0; i < waiting; i++) {
      again(table.parked().remove());
    }
  }

  private void again(Pending it) {
    try {
      switch (it.head().op()) {
        case WAIT -> await(it);
        case INIT -> init(it);
        case REGISTER, PUSH, PULL, PUSH_PULL, CLOCK, HOLD, CUT, RELEASE, LOAD -> pull(it);
      }
    } catch (Refusal why) {
      refuse(it, String.valueOf(why.getMessage()));
    } catch (RuntimeException | Error defect) {
      LOG.error("shard {} of rank {}: {} failed", number, context.rank(), it.head(), defect);
      refuse(it, "it failed there: " + defect);
    }
  }

  // --- clocks

  private void clock(Pending it) throws Refusal {
    ShardTable table = table(it.head());
    table.clocks().advance(it.worker(), it.head().clock());
    done(it, 0);
    resume(table);
  }

  /// Nobody waits for this rank any more.
  void leave(int rank) {
    int worker = context.worker(rank);
    if (worker < 0) {
      return;
    }
    for (ShardTable table : tables.values()) {
      saves.leave(table, worker);
      table.clocks().leave(worker);
      for (Rounds<KeptPush> rounds : table.allRounds()) {
        rounds.leave(worker);
        try {
          applyComplete(table, rounds);
        } catch (Refusal | RuntimeException | Error why) {
          LOG.error(
              "shard {} of rank {}, table '{}': pushes were dropped when rank {} left",
              number,
              context.rank(),
              table.spec().name(),
              rank,
              why);
        }
      }
      resume(table);
    }
  }

  /// Frees the memory of its tables.
  void close() {
    tables.values().forEach(ShardTable::close);
  }
}
