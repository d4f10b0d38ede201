// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.comm.CommException;
import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.server.ShardTable.KeptPush;
import io.weft.kv.server.ShardTable.Subject;
import io.weft.kv.spec.Replicas;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One shard, which contains a part of every table. The answer to a faulty request is its error; no
/// input ends the server. Confined to its thread.
final class Shard {

  private static final Logger LOG = LoggerFactory.getLogger(Shard.class);

  private final int number;
  private final ShardContext context;
  private final ShardTables tables;
  private final ShardPushes pushes;
  private final ShardSaves saves;
  private final ShardMirror mirror;
  private final ShardCalls calls;
  private final ShardAnswers answers;
  private final ShardEnds ends;

  /// The workers that have left while another server decides when that takes effect.
  private final Set<Integer> gone = new TreeSet<>();

  /// The requests of workers that have learned of a loss before this server, in order.
  private final ArrayDeque<Pending> early = new ArrayDeque<>();

  /// @param wake is called from any thread when memory of answers has become free
  /// @param news the known losses and replacements of servers
  /// @param onThread runs an action on the shard's thread, from any thread
  Shard(
      int number,
      ShardContext context,
      Runnable wake,
      ServerChanges news,
      Consumer<Runnable> onThread) {
    this.number = number;
    this.tables = new ShardTables(context);
    this.mirror = new ShardMirror(number, context, new Copied(), news, onThread);
    this.calls = new ShardCalls(context, tables, mirror);
    this.answers = new ShardAnswers(number, context, tables, wake);
    this.context = context;
    this.saves = new ShardSaves(number, context, wake);
    this.pushes = new ShardPushes(context, saves, this::ended);
    this.ends = new ShardEnds(number, context, mirror, this::letGo);
  }

  /// The content that a new mirror receives.
  private final class Copied implements ShardCopy.Source {
    @Override
    public Collection<ShardTable> tables() {
      return tables.all();
    }

    @Override
    public List<byte[]> windows() {
      return pushes.windows();
    }

    @Override
    public boolean hasLeft(int worker) {
      return tables.hasLeft(worker);
    }
  }

  /// Executes a request and answers it, now or later.
  void serve(IncomingRequest request, KvHead head) {
    int worker = context.worker(request.fromRank());
    var it = new Pending(request, head, worker);
    if (request instanceof ObservedRequest observed) {
      observed.begun();
    }
    try {
      if (worker < 0) {
        throw new Refusal("rank " + request.fromRank() + " is not a worker");
      }
      Replicas next = mirror.ofVersion(head.ring());
      if (next != null) {
        adopt(next);
      }
      int version = mirror.ring().version();
      if (head.ring() < version) {
        ShardAnswers.moved(it, mirror.ring());
      } else if (mirror.serves() && head.ring() == version) {
        checkComplete();
        serve(it);
      } else {
        early.add(it); // this server will soon learn what the requester already knows
      }
    } catch (Refusal | RuntimeException | Error why) {
      answers.failed(it, why);
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

  /// Executes, as the shard's mirror, an operation that the primary has executed.
  void mirror(IncomingRequest request, KvHead head, int worker) {
    var it = new Pending(request, head, worker);
    try {
      int from = request.fromRank();
      if (mirror.lost().contains(from)) {
        throw new Refusal("rank " + from + " is lost; another server has its shards");
      }
      boolean tells = head.op() == KvOp.BEGIN || head.op() == KvOp.RING;
      Replicas ring = tells ? told(it) : mirror.ring();
      if (head.op() == KvOp.RING) {
        adopt(ring);
        ShardAnswers.done(it, 0);
        return;
      }
      if (mirror.serves()) {
        throw new Refusal("rank " + context.rank() + " serves the shard, and does not mirror it");
      }
      switch (head.op()) {
        case BEGIN -> {
          mirror.begin(from, head.ring(), ring);
          tables.clear();
          pushes.clear();
          ShardAnswers.done(it, 0);
        }
        case REGISTER -> ShardAnswers.done(it, tables.register(it));
        case PUSH -> push(it);
        case CLOCK -> clock(it);
        case LOAD -> {
          tables.load(it);
          ShardAnswers.done(it, 0);
        }
        case INIT -> init(it);
        case CHANGE -> change(it);
        case STATE -> {
          tables.takeState(it);
          ShardAnswers.done(it, 0);
        }
        case COPY -> {
          tables.takeCopy(it);
          ShardAnswers.done(it, 0);
        }
        case KEEP -> {
          pushes.takeKept(it, tables.known(head));
          ShardAnswers.done(it, 0);
        }
        case WINDOW -> {
          ShardTables.checkPayload(it, NumberWindow.EXPORT_BYTES);
          pushes.take(worker, request.payload());
          ShardAnswers.done(it, 0);
        }
        case LEAVE -> {
          leaveNow(worker);
          ShardAnswers.done(it, 0);
        }
        case COMPLETE -> {
          mirror.completed(it);
          ShardAnswers.done(it, 0);
        }
        case END -> {
          ends.end(it, tables.known(head));
          ShardAnswers.done(it, 0);
        }
        case EVICT -> {
          tables.known(head).remove(request.payload());
          ShardAnswers.done(it, 0);
        }
        case PUSH_PULL,
            PULL,
            WAIT,
            HOLD,
            CUT,
            RELEASE,
            STATISTICS,
            CALL,
            COMMAND,
            RETURN,
            RING,
            WHY ->
            throw new Refusal(head.op() + " is not an operation of a mirror");
      }
      mirror.taken(from);
    } catch (Refusal | RuntimeException | Error why) {
      answers.failed(it, why);
    }
  }

  private void serve(Pending it) throws Refusal {
    switch (it.head().op()) {
      case REGISTER -> both(it, tables.register(it));
      case PUSH, PUSH_PULL -> push(it);
      case PULL -> pull(it);
      case CLOCK -> clock(it);
      case WAIT -> await(it);
      case HOLD -> ShardAnswers.done(it, saves.hold(table(it.head()), it.worker()));
      case CUT -> {
        ShardTable table = table(it.head());
        saves.cut(it, table);
        pushes.applyComplete(table);
        resume(table);
      }
      case RELEASE -> {
        ShardTable table = table(it.head());
        saves.release(table, it.worker());
        pushes.applyComplete(table);
        ShardAnswers.done(it, 0);
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
      case END -> {
        ends.end(it, tables.known(it.head()));
        both(it, 0);
      }
      case WHY -> ends.why(it, table(it.head()));
      case KEEP, WINDOW, LEAVE, COMPLETE, STATE, COPY, COMMAND, RETURN, BEGIN, RING, EVICT ->
          throw new Refusal(it.head().op() + " is for servers");
    }
  }

  private ShardTable table(KvHead head) throws Refusal {
    return tables.of(head);
  }

  /// Forwards a request to the mirror, and answers when the mirror has executed it.
  private void both(Pending it, long applied) {
    MemorySegment payload = it.request().payload();
    mirror.forward(
        it.head(),
        it.worker(),
        payload.byteSize(),
        to -> to.copyFrom(payload),
        refusal -> answers.over(it, refusal, () -> ShardAnswers.done(it, applied)));
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
      ShardAnswers.unknown(it);
      return;
    }
    MemorySegment values = table.values(head, subject, it.request().payload());
    boolean isNew = pushes.isNew(it);
    table.changed();
    long told = 0;
    if (table.spec().consistency().isSynchronous()) {
      told = pushes.keep(it, table, subject, isNew ? values : null);
    } else if (isNew) {
      table.apply(subject, values);
    }
    long at = told;
    if (!mirror.isMirrored()) {
      answerPush(it, at);
    } else {
      mirror.forwardPush(it, table, subject, values, why -> mirrored(it, table, why, at));
    }
    sweep(table, subject);
    resume(table);
  }

  /// Evicts rows after a push and notifies the mirror, which does not see pulls. Evicts none while
  /// a checkpoint holds clocks here that the mirror has applied.
  private void sweep(ShardTable table, Subject subject) {
    if (!table.spec().retention().evicts() || !mirror.serves() || saves.isHeld(table)) {
      return;
    }
    LongStream.Builder gone = LongStream.builder();
    table.sweep(table.keyCount(subject), gone);
    long[] keys = gone.build().toArray();
    if (keys.length > 0 && mirror.isMirrored()) {
      mirror.forward(
          ShardCopy.head(KvOp.EVICT, number, table.spec().id(), 0),
          0,
          (long) Long.BYTES * keys.length,
          to -> MemorySegment.copy(keys, 0, to, JAVA_LONG_UNALIGNED, 0, keys.length),
          refusal -> {
            if (refusal != null) {
              LOG.warn("shard {}: rows evicted here remain on {}", number, refusal);
            }
          });
    }
  }

  /// Completes a push when the mirror has answered. If the mirror has refused it, only this server
  /// has applied it.
  private void mirrored(Pending it, ShardTable table, @Nullable String refusal, long told) {
    if (refusal == null) {
      answerPush(it, told);
    } else if (table.spec().consistency().isSynchronous()) {
      table.end(
          "rank %d: a push of clock %d is here and not at %s; start again from the last checkpoint"
              .formatted(context.rank(), it.head().clock(), refusal));
      ends.ended(table);
      answers.refuseEnded(it, table.why());
    } else {
      answers.refuse(it, "it was applied here and not at " + refusal);
    }
  }

  private void answerPush(Pending it, long told) {
    if (it.head().op() == KvOp.PUSH_PULL) {
      again(it);
    } else {
      ShardAnswers.done(it, told);
    }
  }

  /// Returns whether there is something to write for a checkpoint or to copy to a mirror.
  boolean isBusy() {
    return saves.isSaving() || mirror.isBusy();
  }

  /// Writes or copies some of it. Returns whether there was something to do.
  boolean slice() {
    boolean some = saves.slice();
    some |= mirror.slice();
    mirror.advance(!saves.isSaving() && !saves.isHolding());
    if (mirror.takeTurned()) {
      turned();
      some = true;
    }
    return some;
  }

  /// Runs a change here, and then on the mirror.
  private void change(Pending it) throws Refusal {
    ShardTable table = table(it.head());
    calls.checkChange(it, table);
    table.hear(it);
    String failure = pushes.isNew(it) ? calls.change(it, table) : null;
    MemorySegment payload = it.request().payload();
    mirror.forward(
        it.head(),
        it.worker(),
        payload.byteSize(),
        to -> to.copyFrom(payload),
        refusal ->
            answers.over(it, failure == null ? refusal : failure, () -> ShardAnswers.done(it, 0)));
    resume(table);
  }

  // --- pulls

  private void pull(Pending it) throws Refusal {
    ShardTable table = table(it.head());
    table.hear(it);
    Subject subject = table.subject(it.head(), it.request().payload());
    if (subject == null) {
      ShardAnswers.unknown(it);
    } else if (table.lets(subject, it.head().clock())) {
      answers.values(it, table, subject);
    } else {
      table.parked().add(it);
    }
  }

  private void await(Pending it) throws Refusal {
    ShardTable table = table(it.head());
    Subject subject = table.subject(it.head(), it.request().payload());
    if (subject == null) {
      ShardAnswers.unknown(it);
    } else if (table.lets(subject, it.head().clock())) {
      ShardAnswers.done(it, it.head().clock());
    } else {
      table.parked().add(it);
    }
  }

  /// Retries the answers that waited for memory.
  void resume() {
    ArrayDeque<Pending> unanswered = answers.unanswered();
    int waiting = unanswered.size();
    for (int i = 0; i < waiting; i++) {
      again(unanswered.remove());
    }
  }

  private void resume(ShardTable table) {
    int waiting = table.parked().size();
    // `again` calls this method for first values, which may empty the queue.
    for (int i = 0; i < waiting && !table.parked().isEmpty(); i++) {
      again(table.parked().remove());
    }
  }

  private void again(Pending it) {
    try {
      switch (it.head().op()) {
        case WAIT -> await(it);
        case INIT -> init(it);
        default -> pull(it);
      }
    } catch (Refusal | RuntimeException | Error why) {
      answers.failed(it, why);
    }
  }

  private void ended(ShardTable table) {
    ends.ended(table);
  }

  /// Releases the waiting requests of a table that has ended, with the reason.
  private void letGo(ShardTable table) {
    pushes.end(table);
    saves.end(table);
    resume(table);
  }

  /// Fails the overdue requests of this process's own worker.
  void expire(long nowNanos) {
    tables.all().forEach(table -> ends.expire(table, nowNanos));
  }

  // --- clocks

  private void clock(Pending it) throws Refusal {
    ShardTable table = table(it.head());
    table.clocks().advance(it.worker(), it.head().clock());
    both(it, 0);
    resume(table);
  }

  /// Excludes a worker that has left, so that no request waits for it any more.
  void leave(int rank) {
    int worker = context.worker(rank);
    if (worker >= 0 && mirror.serves()) {
      leaveBoth(worker);
    } else if (worker >= 0) {
      gone.add(worker); // the primary decides when, between pushes
    }
  }

  private void leaveBoth(int worker) {
    leaveNow(worker);
    mirror.forward(ShardCopy.head(KvOp.LEAVE, number, 0, 0), worker, 0, it -> {}, refusal -> {});
  }

  void lose(int rank) {
    if (mirror.lose(rank)) {
      LOG.warn(
          "rank {} takes over shard {}{}",
          context.rank(),
          number,
          mirror.isComplete() ? "" : ", which is incomplete here: requests to it are refused");
      takeOver(rank);
    }
  }

  private void takeOver(int lost) {
    TableOperation takeover = context.states().events().begin("takeover", number, lost);
    tables.all().forEach(ShardTable::allUsed);
    gone.forEach(this::leaveBoth);
    gone.clear();
    retryEarly();
    takeover.ended(
        mirror.isComplete() ? null : new CommException.Mismatch("the shard is incomplete here"));
  }

  private void retryEarly() {
    for (int waiting = early.size(); waiting > 0; waiting--) {
      Pending it = early.remove();
      serve(it.request(), it.head());
    }
  }

  // --- another process in a server's place

  /// Plans the replacement of the server at this position of the replica set.
  void returned(int position, int rank) {
    mirror.returned(position, rank);
  }

  /// Returns the replica set that a server announces. This server adopts the losses that the sender
  /// knows and may have acted on, because a rank that is lost to one rank is lost to all.
  private Replicas told(Pending it) throws Refusal {
    ReplicasNotice.Told told = ReplicasNotice.read(it.request().payload(), mirror.ring());
    for (int rank : told.lost()) {
      if (rank != context.rank() && !mirror.lost().contains(rank)) {
        lose(rank);
      }
    }
    return told.ring();
  }

  /// Adopts a replica set, if it is later than the current one.
  private void adopt(Replicas ring) {
    if (ring.version() <= mirror.ring().version()) {
      return;
    }
    boolean served = mirror.serves();
    if (!mirror.adopt(ring)) { // this server no longer has the shard
      tables.clear();
      pushes.clear();
    }
    if (mirror.serves() && !served) {
      takeOver(TableOperation.NO_PEER);
    } else {
      retryEarly();
    }
  }

  /// Resumes the requests that have waited for a change of the replica set, here or on another
  /// server.
  private void turned() {
    if (mirror.serves()) {
      gone.forEach(this::leaveBoth);
      gone.clear();
    } else {
      tables.all().forEach(table -> moveAll(table.parked()));
      moveAll(answers.unanswered());
    }
    retryEarly();
  }

  private void moveAll(ArrayDeque<Pending> waiting) {
    while (!waiting.isEmpty()) {
      ShardAnswers.moved(waiting.remove(), mirror.ring());
    }
  }

  private void leaveNow(int worker) {
    tables.leave(worker);
    for (ShardTable table : tables.all()) {
      saves.release(table, worker);
      for (PushRounds<KeptPush> rounds : table.allRounds()) {
        try {
          pushes.applyComplete(table, rounds);
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

  void close() {
    tables.clear();
  }
}
