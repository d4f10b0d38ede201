// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.server.ShardTable.Subject;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The primary of a shard, which executes and answers the requests of workers, and forwards the
/// executed ones. Confined to the shard's thread.
final class PrimaryRole implements ShardRole {

  private static final Logger LOG = LoggerFactory.getLogger(PrimaryRole.class);

  private final ShardContent content;
  private final ReplicaView replicas;
  private final ShardReplication replication;
  private final ShardContext context;
  private final ShardTables tables;
  private final ShardPushes pushes;
  private final ShardSaves saves;
  private final ShardAnswers answers;
  private final MirrorRole next;
  private final boolean whole;

  /// @param next the role after another server has become the primary
  /// @param whole false if the servers that had the whole shard are lost
  PrimaryRole(
      ShardContent content,
      ReplicaView replicas,
      ShardReplication replication,
      MirrorRole next,
      boolean whole) {
    this.content = content;
    this.replicas = replicas;
    this.replication = replication;
    this.context = content.context();
    this.tables = content.tables();
    this.pushes = content.pushes();
    this.saves = content.saves();
    this.answers = content.answers();
    this.next = next;
    this.whole = whole;
    mirrorAnew();
  }

  @Override
  public boolean isWhole() {
    return whole;
  }

  /// Returns whether this server answers workers now, which it does not during the last steps of a
  /// change of the replica set.
  boolean serves() {
    return replicas.isPrimary() && !replication.isStopping();
  }

  /// Returns whether the mirror has the whole shard.
  boolean isMirrored() {
    return whole && replication.hasWholeMirror();
  }

  /// Copies the shard to the server that is to be its mirror, if that server has changed.
  void mirrorAnew() {
    if (whole) {
      replication.mirrorAnew();
    }
  }

  /// Stops forwarding, because another server is the primary.
  void end() {
    replication.end("another server has it");
  }

  /// Executes requests that the next primary forwards before the change of the replica set ends
  /// here.
  @Override
  public ShardRole mirror(Pending it) throws Refusal {
    if (serves()) {
      throw new Refusal("rank " + context.rank() + " serves the shard, and does not mirror it");
    }
    ShardRole unused = next.mirror(it);
    return this;
  }

  /// Executes a worker's request and answers it, now or later.
  void serve(Pending it) throws Refusal {
    checkWhole();
    switch (it.head().op()) {
      case REGISTER -> both(it, tables.register(it));
      case PUSH, PUSH_PULL, INSERT, REMOVE -> push(it);
      case PULL -> pull(it);
      case PULL_TABLES -> pullTables(it);
      case CLOCK -> {
        ShardTable table = content.clock(it);
        both(it, 0);
        resume(table);
      }
      case WAIT -> await(it);
      case HOLD -> it.done(saves.hold(table(it), it.worker()));
      case CUT, EXPORT -> {
        saves.cut(it, table(it));
        applyWaiting(table(it));
      }
      case RELEASE -> {
        saves.release(table(it), it.worker());
        applyWaiting(table(it));
        it.done(0);
      }
      case LOAD -> {
        tables.load(it);
        both(it, 0);
      }
      case INIT -> init(it);
      case CALL -> content.calls().call(it);
      case CHANGE -> change(it);
      case RULE -> {
        content.rule(it);
        both(it, 0);
      }
      case STATISTICS ->
          it.reply(KvReply.done(0, table(it).storage().statistics().text()).encode());
      case END -> {
        content.end(it);
        resume(tables.known(it.head()));
        both(it, 0);
      }
      case WHY -> {
        if (KvOp.of(it.head().digestHigh()) == KvOp.PULL_TABLES) {
          it.reply(KvReply.done(KvReply.NOT_KNOWN, ShardEnds.OF_TABLES).encode());
        } else {
          ShardEnds.why(it, table(it));
        }
      }
      default -> throw new Refusal(it.head().op() + " is for servers");
    }
  }

  private void checkWhole() throws Refusal {
    if (!whole) {
      Path latest = context.disk().files().latest();
      throw new Refusal(
          "shard %d is lost: ranks %s, which had it, are gone, and this server has not all of it; start the job again and restore the last checkpoint: rank %d %s"
              .formatted(
                  content.shard(),
                  replicas.lost(),
                  context.rank(),
                  latest == null ? "knows of none" : "has last written files of " + latest));
    }
  }

  private ShardTable table(Pending it) throws Refusal {
    return tables.of(it.head());
  }

  private void applyWaiting(ShardTable table) throws Refusal {
    pushes.applyComplete(table);
    resume(table);
  }

  /// Forwards a request to the mirror, and answers when the mirror has executed it.
  private void both(Pending it, long applied) {
    replication.forward(it, refusal -> answers.over(it, refusal, () -> it.done(applied)));
  }

  private void init(Pending it) throws Refusal {
    ShardTable table = table(it);
    if (content.init(it)) {
      both(it, 0);
      resume(table);
    } else {
      table.parked().add(it);
    }
  }

  /// Runs a change here, and then on the mirror. The rest of a copy is sent first, because the
  /// change may read it on the mirror.
  private void change(Pending it) throws Refusal {
    ShardTable table = content.changing(it);
    String failure = null;
    if (pushes.isNew(it)) {
      replication.finishCopy();
      failure = content.calls().change(it, table);
    }
    String here = failure;
    replication.forward(
        it, refusal -> answers.over(it, here == null ? refusal : here, () -> it.done(0)));
    resume(table);
  }

  // --- pushes

  private void push(Pending it) throws Refusal {
    ShardTable table = table(it);
    if (it.head().op().editsRows()) {
      table.checkEdit();
    }
    Subject subject = table.read(it);
    if (subject == null) {
      it.unknownList();
      return;
    }
    MemorySegment values = table.values(it.head(), subject, it.payload());
    long told = pushes.push(it, table, subject, values);
    if (!replication.isMirrored()) {
      answerPush(it, told);
    } else {
      replication.forwardPush(it, table, subject, values, why -> mirrored(it, table, why, told));
    }
    sweep(table, subject);
    resume(table);
  }

  /// Evicts rows after a push and notifies the mirror, which does not see pulls. Evicts none while
  /// a checkpoint holds clocks here that the mirror has applied.
  private void sweep(ShardTable table, Subject subject) {
    if (!table.spec().retention().evicts() || saves.isHeld(table)) {
      return;
    }
    LongStream.Builder gone = LongStream.builder();
    table.sweep(table.keyCount(subject), gone);
    long[] keys = gone.build().toArray();
    if (keys.length > 0) {
      replication.forward(
          ShardCopy.head(KvOp.EVICT, content.shard(), table.spec().id(), 0),
          0,
          (long) Long.BYTES * keys.length,
          to -> MemorySegment.copy(keys, 0, to, JAVA_LONG_UNALIGNED, 0, keys.length),
          refusal -> {
            if (refusal != null) {
              LOG.warn("shard {}: rows evicted here remain on {}", content.shard(), refusal);
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
          "rank %d: %s of clock %d is here and not at %s; start again from the last checkpoint"
              .formatted(context.rank(), it.head().op(), it.head().clock(), refusal));
      content.ended(table);
      answers.refuseEnded(it, table.why());
    } else {
      answers.refuse(it, "it was applied here and not at " + refusal);
    }
  }

  private void answerPush(Pending it, long told) {
    if (it.head().op() == KvOp.PUSH_PULL) {
      again(it);
    } else {
      it.done(told);
    }
  }

  // --- pulls

  private void pull(Pending it) throws Refusal {
    ShardTable table = table(it);
    Subject subject = table.read(it);
    if (subject == null) {
      it.unknownList();
    } else if (table.lets(subject, it.head().clock())) {
      answers.values(it, table, subject);
    } else {
      table.parked().add(it);
    }
  }

  private void pullTables(Pending it) throws Refusal {
    var pull = TablesPull.read(it, tables);
    ShardTable awaited = pull.awaited();
    if (awaited == null) {
      answers.values(it, 0, pull.bytes(), pull::write);
    } else {
      awaited.parked().add(it);
    }
  }

  private void await(Pending it) throws Refusal {
    ShardTable table = table(it);
    Subject subject = table.subject(it.head(), it.payload());
    if (subject == null) {
      it.unknownList();
    } else if (table.lets(subject, it.head().clock())) {
      it.done(it.head().clock());
    } else {
      table.parked().add(it);
    }
  }

  /// Retries the answers that waited for memory.
  void resume() {
    ArrayDeque<Pending> unanswered = answers.unanswered();
    for (int waiting = unanswered.size(); waiting > 0; waiting--) {
      again(unanswered.remove());
    }
  }

  /// Retries the requests that wait for others on a table.
  private void resume(ShardTable table) {
    // `again` calls this method for first values, which may empty the queue.
    int waiting = table.parked().size();
    for (int i = 0; i < waiting && !table.parked().isEmpty(); i++) {
      again(table.parked().remove());
    }
  }

  private void again(Pending it) {
    try {
      switch (it.head().op()) {
        case WAIT -> await(it);
        case INIT -> init(it);
        case PULL_TABLES -> pullTables(it);
        default -> pull(it);
      }
    } catch (Refusal | RuntimeException | Error why) {
      answers.failed(it, why);
    }
  }

  /// Tells the workers of all waiting requests which servers have the shard now.
  void moveWaiting() {
    tables.all().forEach(table -> moveAll(table.parked()));
    moveAll(answers.unanswered());
  }

  private void moveAll(ArrayDeque<Pending> waiting) {
    while (!waiting.isEmpty()) {
      waiting.remove().moved(replicas.current());
    }
  }

  // --- events

  /// Releases the waiting requests of a table that has ended, and forwards the end.
  void ended(ShardTable table) {
    resume(table);
    byte[] why = table.why().getBytes(StandardCharsets.UTF_8);
    replication.forward(
        ShardCopy.head(KvOp.END, content.shard(), table.spec().id(), 0),
        0,
        why.length,
        to -> MemorySegment.copy(why, 0, to, JAVA_BYTE, 0, why.length),
        refusal -> {});
  }

  /// Excludes a worker that has left, here and on the mirror.
  void leave(int worker) {
    content.leave(worker);
    tables.all().forEach(this::resume);
    replication.forward(
        ShardCopy.head(KvOp.LEAVE, content.shard(), 0, 0), worker, 0, it -> {}, refusal -> {});
  }

  /// Ends the forwarding to a lost server.
  void lose(int rank) {
    replication.lose(rank);
    mirrorAnew();
  }

  /// Returns whether there is something to copy, send or change.
  boolean isBusy() {
    return replication.isBusy() || (whole && replication.mayBeginChange());
  }

  /// Copies some rows, and advances a change of the replica set. Returns whether it did something.
  boolean slice() {
    boolean some = replication.slice();
    if (whole && replication.mayBeginChange()) {
      replication.beginChange();
    }
    replication.advance(!saves.isSaving() && !saves.isHolding());
    return some;
  }

  /// Returns whether a change of the replica set has ended since the last call, so that waiting
  /// requests must be resumed.
  boolean takeChanged() {
    return replication.takeChanged();
  }
}
