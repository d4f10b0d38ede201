// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.exchange.BadCount;
import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.Stage;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.group.Group;
import io.weft.collective.group.OperationSignature;
import io.weft.comm.CommException;
import io.weft.observer.OperationStage;
import io.weft.text.Printable;
import io.weft.transport.TransportException;
import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One collective of one rank, from submission to completion: its stages one after the other, its
/// deadline, and what its peers said about it. Created by a user thread, then confined to the
/// progress thread.
final class Operation<T> implements RunningOperation, PreparedOperation<T> {

  private static final Logger LOG = LoggerFactory.getLogger(Operation.class);

  private final Group group;
  private final OperationName name;
  private final OperationSignature signature;
  private final OperationPlan<T> plan;
  private final PendingHandle<T> handle;
  private final Duration limit;
  private final long submittedNanos;
  private final ProbeAnswers answers;
  private int sequence;
  private int lastHeard = -1;
  private int stageIndex = -1;
  private int worked;
  private @Nullable StageTask task;
  private @Nullable CommException failure;
  private @Nullable Collectives collectives;
  private boolean announced;
  private boolean probed;
  private long verdictNanos;
  private long failedNanos;
  private boolean toldMismatch;

  Operation(
      Group group,
      OperationName name,
      OperationSignature signature,
      OperationPlan<T> plan,
      PendingHandle<T> handle,
      Duration limit,
      long submittedNanos) {
    this.group = group;
    this.name = name;
    this.signature = signature;
    this.plan = plan;
    this.handle = handle;
    this.limit = limit;
    this.submittedNanos = submittedNanos;
    this.answers = new ProbeAnswers(group.rank(), group.size());
    this.verdictNanos = submittedNanos + Span.nanos(limit);
  }

  @Override
  public Group group() {
    return group;
  }

  @Override
  public String name() {
    return name.toString();
  }

  @Override
  public OperationSignature signature() {
    return signature;
  }

  @Override
  public long key() {
    return name.key();
  }

  @Override
  public int sequence() {
    return sequence;
  }

  int stageIndex() {
    return stageIndex;
  }

  long deadlineNanos() {
    return submittedNanos + Span.nanos(limit);
  }

  /// How long before the deadline the others are asked whether they have submitted it, and how long
  /// they have to answer.
  long graceNanos() {
    return Math.min(500_000_000L, Span.nanos(limit) / 4);
  }

  /// How long it waits before it tells whom it waits for that it does, if these have not heard of
  /// it: an operation on which all agree is mostly over by then.
  long quietNanos() {
    return Math.min(250_000_000L, Span.nanos(limit) / 4);
  }

  boolean announced() {
    return announced;
  }

  void markAnnounced() {
    announced = true;
  }

  boolean probed() {
    return probed;
  }

  void markProbed() {
    probed = true;
  }

  /// When the deadline's verdict is due: at the deadline, or a grace after this rank could ask.
  long verdictNanos() {
    return verdictNanos;
  }

  /// To at most twice the deadline, however often this rank stands still.
  void putOffVerdict(long nanos) {
    long latest = deadlineNanos() + Span.nanos(limit);
    verdictNanos = Math.max(verdictNanos, Math.min(nanos, latest));
  }

  boolean toldMismatch() {
    return toldMismatch;
  }

  void markToldMismatch() {
    toldMismatch = true;
  }

  void onAnswer(int member, CollectiveFrame.Progress progress) {
    answers.put(member, progress);
  }

  boolean failed() {
    return failure != null;
  }

  long failedNanos() {
    return failedNanos;
  }

  /// The progress thread has taken it as this use of its name.
  void taken(Collectives owner, int number) {
    collectives = owner;
    sequence = number;
    tell(owner, OperationStage.STARTED);
  }

  /// Begins the first stage. Returns whether the operation is already complete.
  boolean start() {
    try {
      return nextStage();
    } catch (RuntimeException | Error thrown) {
      broken(thrown);
      return false;
    }
  }

  @Override
  public void reached(OperationStage stage) {
    Collectives owner = Objects.requireNonNull(collectives);
    if (owner.observer().hearsStages()) {
      tell(owner, stage);
    }
  }

  private void tell(Collectives owner, OperationStage stage) {
    owner.observer().reached(this, stage, Math.max(0, stageIndex), owner.nanos());
  }

  @Override
  public void heard(int member) {
    lastHeard = member;
  }

  @Override
  public void broken(Throwable thrown) {
    Objects.requireNonNull(collectives).broken(this, thrown);
  }

  /// Its first stage was begun without it, as this use of its name. Before `resume`.
  void resumes(Collectives owner, int number, StageTask begun) {
    collectives = owner;
    sequence = number;
    stageIndex = 0;
    task = begun;
  }

  /// Goes on with a stage that was begun. Returns whether the operation is complete.
  boolean resume() {
    Collectives owner = Objects.requireNonNull(collectives);
    owner.inbox().replayEarly(this);
    boolean complete = advance();
    if (!complete && failure == null) {
      owner.failures().failIfDeserted(this);
    }
    return complete;
  }

  /// Moves on as far as possible; returns whether the operation is complete.
  boolean advance() {
    StageTask running = task;
    if (failure != null || running == null) {
      return false;
    }
    try {
      worked += running.advance();
      return failure == null && !toldMismatch && running.done() && nextStage();
    } catch (RuntimeException | Error thrown) {
      broken(thrown);
      return false;
    }
  }

  /// How much `advance` has done since the last call.
  int takeWork() {
    int work = worked;
    worked = 0;
    return work;
  }

  /// Begins the next stage and those after it that need no peer. Returns whether all are done.
  private boolean nextStage() {
    Collectives owner = Objects.requireNonNull(collectives);
    while (true) {
      if (task != null) {
        task.release();
        task = null;
      }
      stageIndex++;
      Stage stage;
      try {
        stage = plan.stage(stageIndex);
      } catch (BadCount count) {
        brokenBy(count.member(), count.what());
        return false;
      } catch (OutOfMemoryError noRoom) {
        noRoom(noRoom);
        return false;
      }
      if (stage == null) {
        return true;
      }
      StageTask next = stage.task(this, stageIndex, owner.context());
      task = next;
      tell(owner, OperationStage.EXCHANGE);
      next.start();
      owner.inbox().replayEarly(this);
      next.advance();
      if (failure != null || toldMismatch) {
        return false;
      }
      if (!next.done()) {
        owner.failures().failIfDeserted(this);
        return false;
      }
    }
  }

  @Override
  public PendingHandle<T> handle() {
    return handle;
  }

  @Override
  public void enter(Collectives into) {
    into.commands().submit(() -> into.begin(this), limit);
  }

  @Override
  public void withdraw() {
    plan.discard();
    handle.withdraw();
  }

  /// Tells the handle. After success the result is the caller's.
  void complete() {
    Collectives owner = Objects.requireNonNull(collectives);
    T result;
    try {
      result = handle.copyOut(plan.result());
    } catch (RuntimeException | Error thrown) {
      fail(FailureMessages.broken(this, thrown), owner.now());
      end();
      return;
    }
    handle.tellEnd(this, null);
    handle.complete(result, null);
  }

  /// Remembers the failure; `settle` ends it when the transport no longer touches our memory.
  void fail(CommException cause, long nowNanos) {
    if (failure == null) {
      failure = cause;
      failedNanos = nowNanos;
      handle.tellEnd(this, cause);
    }
  }

  /// Whether a failed operation could be ended now, and if so, ends it.
  boolean settle() {
    StageTask running = task;
    try {
      if (running != null && !running.tryAbandon()) {
        return false;
      }
    } catch (RuntimeException | Error thrown) {
      LOG.error("{} ends, but not what it had registered", describe(), thrown);
    }
    end();
    return true;
  }

  /// Ends a failed operation though a rank that is lost may still be inside its memory; does
  /// nothing where that cannot be. Returns whether it has ended.
  boolean settleWithoutTheLost() {
    if (task == null || !task.mayEndWithoutTheLost()) {
      return false;
    }
    LOG.warn("{} ends; a lost rank that is stopped may touch its tensors once more", describe());
    end();
    return true;
  }

  private void end() {
    task = null;
    try {
      plan.discard();
    } catch (RuntimeException | Error thrown) {
      LOG.error("{} ends, but not what it had allocated", describe(), thrown);
    }
    handle.complete(null, failure);
  }

  /// The stage that runs; null before the first and after a failure.
  @Nullable StageTask task() {
    return task;
  }

  @Override
  public void brokenBy(int member, String what) {
    Objects.requireNonNull(collectives)
        .failures()
        .abort(
            group,
            new CommException.Aborted(
                describe()
                    + ": "
                    + group.describe(member)
                    + " sent "
                    + what
                    + "; all ranks must run the same version of Weft with the same tuning",
                group.world(member),
                null),
            group.world(member));
  }

  @Override
  public void noRoom(OutOfMemoryError cause) {
    Objects.requireNonNull(collectives)
        .failures()
        .abort(group, FailureMessages.noRoom(this, cause), group.world(group.rank()));
  }

  /// If the peer refused it, the peer has ended the operation and has said so, or will; if the
  /// endpoint is lost, the mesh says so. So there is nothing to do here but not to complete.
  @Override
  public void writeFailed(int member, TransportException cause) {
    Throwable own = cause instanceof TransportException.Refused ? cause.getCause() : null;
    if (own != null) { // the memory is ours, and gone
      broken(own);
      return;
    }
    LOG.debug("{}: write to {} failed: {}", name, group.describe(member), cause.getMessage());
  }

  // --- for the observer

  @Override
  public long communicator() {
    return group.key();
  }

  @Override
  public String words() {
    return signature.words();
  }

  @Override
  public long bytes() {
    return signature.bytes();
  }

  @Override
  public long submittedNanos() {
    return submittedNanos;
  }

  @Override
  public Service service() {
    return Service.COLLECTIVE;
  }

  @Override
  public long id() {
    return handle.id();
  }

  @Override
  public int lastHeard() {
    return lastHeard < 0 ? -1 : group.world(lastHeard);
  }

  @Override
  public List<Integer> awaited() {
    return waitingFor().stream().map(group::world).toList();
  }

  @Override
  public List<Integer> unsubmitted() {
    return answers.unsubmitted().map(group::world).toList();
  }

  // --- in words

  /// "allreduce 'g1' (FLOAT32[3] SUM)".
  String describe() {
    String words = signature.words();
    int space = words.indexOf(' ');
    return Printable.of(
        words.substring(0, space) + " '" + name + "' (" + words.substring(space + 1) + ")");
  }

  /// A turn may find what was submitted after it had looked at the clock: then it waits for 0.0 s.
  String describe(long nowNanos) {
    long waited = Math.max(0, nowNanos - submittedNanos);
    return describe()
        + String.format(Locale.ROOT, " for %.1f s, stage %d", waited / 1e9, stageIndex);
  }

  /// Whether the stage that runs cannot end without this member.
  boolean needs(int member) {
    return task != null && task.needs(member);
  }

  List<Integer> waitingFor() {
    return task == null ? List.of() : task.waitingFor();
  }

  /// See `StageTask.usedBy`.
  List<Integer> usedBy() {
    return task == null ? List.of() : task.usedBy();
  }

  /// Members that never submitted it or never answered; if none, those that this rank waits for.
  List<Integer> silent() {
    List<Integer> missing = answers.missing(waitingFor());
    return missing.isEmpty() ? waitingFor() : missing;
  }

  /// The world rank that is to blame if it is not done in time; -1 where all have begun it and
  /// answer, so that it may be anybody who is slow.
  int culprit() {
    List<Integer> missing = answers.missing(waitingFor());
    return missing.isEmpty() ? -1 : group.world(missing.getFirst());
  }

  /// What is known of a silent member.
  String excuse(int member) {
    return answers.excuse(member);
  }

  @Override
  public String toString() {
    return describe() + " answers " + answers;
  }
}
