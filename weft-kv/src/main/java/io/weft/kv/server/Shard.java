// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.frame.Ahead;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.server.ShardTable.KeptPush;
import io.weft.kv.server.ShardTable.Subject;
import io.weft.kv.spec.Replicas;
import io.weft.kv.spill.RowStoreException;
import io.weft.kv.table.MemoryBudgetException;
import io.weft.tensor.TensorLease;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One shard: a part of every table. What is wrong with a request is its answer; nothing that comes
/// in ends the server. Confined to its thread.
final class Shard {

  private static final Logger LOG = LoggerFactory.getLogger(Shard.class);

  private final int number;
  private final ShardContext context;
  private final Runnable wake;
  private final ShardTables tables;
  private final NumberWindow[] pushes;
  private final ShardSaves saves;
  private final ShardMirror mirror;
  private final ShardCalls calls;
  private final boolean[] left;

  /// Workers that are gone, where another server says when that counts.
  private final Set<Integer> gone = new TreeSet<>();

  /// Requests of workers that know of a loss before this server does, in order.
  private final ArrayDeque<Pending> early = new ArrayDeque<>();

  /// What is answered in a reply.
  private final MemorySegment shortAnswer = Arena.ofAuto().allocate(KvReply.MOST_VALUE_BYTES, 64);

  /// Requests whose answers find no memory, in order.
  private final ArrayDeque<Pending> unanswered = new ArrayDeque<>();

  /// @param wake any thread: memory of answers is free again
  /// @param lost servers that are lost already
  /// @param onThread runs something on the shard's thread, from any
  Shard(
      int number,
      ShardContext context,
      Runnable wake,
      Set<Integer> lost,
      Consumer<Runnable> onThread) {
    this.number = number;
    this.tables = new ShardTables(context);
    this.mirror = new ShardMirror(number, context, lost, onThread);
    this.calls = new ShardCalls(context, tables, mirror);
    this.left = new boolean[context.workers().size()];
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
      if (mirror.serves()) {
        checkComplete();
        serve(it);
      } else {
        early.add(it); // who asks knows already that the server before this one is lost
      }
    } catch (Refusal | MemoryBudgetException | RowStoreException why) {
      refuse(it, String.valueOf(why.getMessage()));
    } catch (RuntimeException | Error defect) {
      LOG.error("shard {} of rank {}: {} failed", number, context.rank(), head, defect);
      refuse(it, "it failed there: " + defect);
    }
  }

  private void checkComplete() throws Refusal {
    if (!mirror.isComplete()) {
      throw new Refusal(
          "shard %d is lost: ranks %s, which had it, are gone, and this server has not all of it; start the job again and restore the last checkpoint: %s"
              .formatted(number, mirror.lost(), latestCheckpoint()));
    }
  }

  private String latestCheckpoint() {
    Path latest = context.files().latest();
    return latest == null
        ? "rank " + context.rank() + " knows of none"
        : "rank " + context.rank() + " has last written files of " + latest;
  }

  /// Does what the server of this shard has done, as its mirror.
  void mirror(IncomingRequest request, KvHead head, int worker) {
    var it = new Pending(request, head, worker);
    try {
      if (mirror.serves()) {
        throw new Refusal("rank " + context.rank() + " serves it, and mirrors nobody");
      }
      switch (head.op()) {
        case REGISTER -> done(it, tables.register(it));
        case PUSH -> push(it);
        case CLOCK -> clock(it);
        case LOAD -> {
          tables.load(it);
          done(it, 0);
        }
        case INIT -> init(it);
        case CHANGE -> change(it);
        case STATE -> {
          tables.takeState(it);
          done(it, 0);
        }
        case COPY -> {
          tables.takeCopy(it);
          done(it, 0);
        }
        case KEEP -> {
          ShardTable table = table(head);
          Subject subject = table.subject(head, request.payload());
          if (subject != null) {
            long unused = keep(it, table, subject, table.values(head, subject, request.payload()));
          }
          done(it, 0);
        }
        case WINDOW -> {
          ShardTables.checkPayload(it, NumberWindow.EXPORT_BYTES);
          pushes[worker].take(request.payload());
          done(it, 0);
        }
        case LEAVE -> {
          leaveNow(worker);
          done(it, 0);
        }
        case COMPLETE -> {
          mirror.completed();
          done(it, 0);
        }
        case PUSH_PULL, PULL, WAIT, HOLD, CUT, RELEASE, STATISTICS, CALL, COMMAND ->
            throw new Refusal(head.op() + " is nothing that a mirror does");
      }
    } catch (Refusal | MemoryBudgetException | RowStoreException why) {
      refuse(it, String.valueOf(why.getMessage()));
    } catch (RuntimeException | Error defect) {
      LOG.error("shard {} of rank {}: {} failed", number, context.rank(), head, defect);
      refuse(it, "it failed there: " + defect);
    }
  }

  private void refuse(Pending it, String why) {
    ShardTable table = tables.find(it.head().table());
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
      case REGISTER -> both(it, tables.register(it));
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
      case LOAD -> {
        tables.load(it);
        both(it, 0);
      }
      case INIT -> init(it);
      case CALL -> calls.call(it);
      case CHANGE -> change(it);
      case STATISTICS ->
          it.request().reply(KvReply.done(0, table(it.head()).statistics().text()).encode());
      case KEEP, WINDOW, LEAVE, COMPLETE, STATE, COPY, COMMAND ->
          throw new Refusal(it.head().op() + " is for servers");
    }
  }

  private ShardTable table(KvHead head) throws Refusal {
    return tables.of(head);
  }

  /// Tells the mirror too, and answers when it has done it.
  private void both(Pending it, long applied) {
    MemorySegment payload = it.request().payload();
    mirror.forward(
        it.head(),
        it.worker(),
        payload.byteSize(),
        to -> to.copyFrom(payload),
        refusal -> over(it, refusal, () -> done(it, applied)));
  }

  private void over(Pending it, @Nullable String refusal, Runnable answer) {
    if (refusal == null) {
      answer.run();
    } else {
      refuse(it, refusal);
    }
  }

  private static void done(Pending it, long applied) {
    it.request().reply(KvReply.done(applied).encode());
  }

  private void init(Pending it) throws Refusal {
    if (!(table(it.head()) instanceof PartsTable table)) {
      throw new Refusal("rows have the initial values that their table was registered with");
    }
    if (table.init(it, table.subject(it.head(), it.request().payload()))) {
      both(it, 0);
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
    boolean isNew = isNew(it);
    table.changed();
    long told = 0;
    if (table.spec().consistency().isSynchronous()) {
      told = keep(it, table, subject, isNew ? values : null);
    } else if (isNew) {
      table.apply(subject, values);
    }
    long at = told;
    if (mirror.link() == null) {
      answerPush(it, at);
    } else {
      mirror.forwardPush(
          it, table, subject, values, why -> over(it, why, () -> answerPush(it, at)));
    }
    resume(table);
  }

  /// Whether a push or change was not done before; it is known from now on.
  private boolean isNew(Pending it) throws Refusal {
    try {
      return pushes[it.worker()].isNew(it.head().number(), it.head().settled());
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
  }

  private void answerPush(Pending it, long told) {
    if (it.head().op() == KvOp.PUSH_PULL) {
      again(it);
    } else {
      done(it, told);
    }
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
        table.applyClock(complete, rounds.applied());
      } finally {
        complete.forEach(each -> context.budget().release(each.bytes()));
        if (table.isBroken()) {
          resume(table); // those that wait for it hear why
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

  /// Whether something of a checkpoint is not written yet, or not copied to a mirror.
  boolean isBusy() {
    return saves.isSaving() || mirror.isBusy();
  }

  /// Writes or copies some of it; whether there was something to do.
  boolean slice() {
    boolean saved = saves.slice();
    return mirror.slice() || saved;
  }

  /// Changes what is here, and then at the mirror.
  private void change(Pending it) throws Refusal {
    ShardTable table = table(it.head());
    calls.checkChange(it, table);
    table.hear(it);
    String failure = isNew(it) ? calls.change(it, table) : null;
    MemorySegment payload = it.request().payload();
    mirror.forward(
        it.head(),
        it.worker(),
        payload.byteSize(),
        to -> to.copyFrom(payload),
        refusal -> over(it, failure == null ? refusal : failure, () -> done(it, 0)));
    resume(table);
  }

  private static void unknown(Pending it) {
    it.request().reply(KvReply.unknownList().encode());
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
    long told = table.clockToTell(subject, it.head().clock());
    if (bytes <= KvReply.MOST_VALUE_BYTES) {
      MemorySegment values = shortAnswer.asSlice(0, bytes);
      table.read(subject, values);
      it.request().reply(KvReply.done(told, values).encode());
      return;
    }
    if (it.request().intoBytes() < bytes) {
      throw new Refusal(
          "%d bytes to be answered, and room for %d".formatted(bytes, it.request().intoBytes()));
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
    // First values that go on let the others go on, in a call of this method of their own.
    for (int i = 0; i < waiting && !table.parked().isEmpty(); i++) {
      again(table.parked().remove());
    }
  }

  private void again(Pending it) {
    try {
      switch (it.head().op()) {
        case WAIT -> await(it);
        case INIT -> init(it);
        case REGISTER,
            PUSH,
            PULL,
            PUSH_PULL,
            CLOCK,
            HOLD,
            CUT,
            RELEASE,
            LOAD,
            KEEP,
            WINDOW,
            LEAVE,
            COMPLETE,
            STATE,
            COPY,
            STATISTICS,
            CALL,
            CHANGE,
            COMMAND ->
            pull(it);
      }
    } catch (Refusal | MemoryBudgetException | RowStoreException why) {
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
    both(it, 0);
    resume(table);
  }

  /// Nobody waits for this rank any more.
  void leave(int rank) {
    int worker = context.worker(rank);
    if (worker < 0 || !mirror.serves()) {
      if (worker >= 0) {
        gone.add(worker); // the server of the shard says when, between pushes
      }
      return;
    }
    leaveBoth(worker);
  }

  private void leaveBoth(int worker) {
    leaveNow(worker);
    mirror.forward(ShardCopy.head(KvOp.LEAVE, number, 0, 0), worker, 0, it -> {}, refusal -> {});
  }

  /// A server is lost.
  void lose(int rank) {
    boolean takesOver = mirror.lose(rank);
    int next = mirror.nextMirror();
    if (next == Replicas.NONE) {
      mirror.end();
    } else {
      mirror.begin(
          next,
          new ShardCopy.Source() {
            @Override
            public Collection<ShardTable> tables() {
              return tables.all();
            }

            @Override
            public NumberWindow[] pushes() {
              return pushes;
            }

            @Override
            public boolean hasLeft(int worker) {
              return left[worker];
            }
          });
    }
    if (!takesOver) {
      return;
    }
    LOG.warn(
        "rank {} takes over shard {}{}",
        context.rank(),
        number,
        mirror.isComplete() ? "" : ", of which it has not all: what it is asked is refused");
    gone.forEach(this::leaveBoth);
    gone.clear();
    while (!early.isEmpty()) {
      Pending it = early.remove();
      serve(it.request(), it.head());
    }
  }

  private void leaveNow(int worker) {
    left[worker] = true;
    for (ShardTable table : tables.all()) {
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
              context.workers().get(worker),
              why);
        }
      }
      resume(table);
    }
  }

  /// Frees the memory of its tables.
  void close() {
    tables.all().forEach(ShardTable::close);
  }
}
