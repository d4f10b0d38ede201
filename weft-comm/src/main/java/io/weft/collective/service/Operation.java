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
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One collective of one rank, from submission to completion: its stages in sequence, its deadline,
/// and the peers' answers about it. Created by a user thread, then confined to the progress thread.
final class Operation<T> implements RunningOperation, PreparedOperation<T> {

  private static final Logger LOG = LoggerFactory.getLogger(Operation.class);

  private final Group group;
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

  Operation(OperationPlan<T> plan, PendingHandle<T> handle, Duration limit, long submittedNanos) {
    this.group = handle.owner().group();
    this.plan = plan;
    this.handle = handle;
    this.limit = limit;
    this.submittedNanos = submittedNanos;
    this.answers = new ProbeAnswers(group.rank(), group.size());
    this.verdictNanos = submittedNanos + ClampedDuration.nanos(limit);
  }

  @Override
  public Group group() {
    return group;
  }

  @Override
  public String name() {
    return handle.operationName().toString();
  }

  @Override
  public OperationSignature signature() {
    return handle.signature();
  }

  @Override
  public long key() {
    return handle.operationName().key();
  }

  @Override
  public int sequence() {
    return sequence;
  }

  int stageIndex() {
    return stageIndex;
  }

  long deadlineNanos() {
    return submittedNanos + ClampedDuration.nanos(limit);
  }

  /// Returns the time before the deadline at which this rank asks the others for their progress,
  /// which is also the time that they have to reply.
  long graceNanos() {
    return Math.min(500_000_000L, ClampedDuration.nanos(limit) / 4);
  }

  /// Returns the time after which this rank announces itself to the peers for which it waits, in
  /// case they do not know of the operation. Most operations on which all ranks agree have ended by
  /// then.
  long quietNanos() {
    return Math.min(250_000_000L, ClampedDuration.nanos(limit) / 4);
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

  /// Returns the time of the deadline's verdict: the deadline, or a grace period after this rank
  /// could ask.
  long verdictNanos() {
    return verdictNanos;
  }

  /// Postpones the verdict, to at most twice the deadline, even if this rank stands still
  /// repeatedly.
  void putOffVerdict(long nanos) {
    long latest = deadlineNanos() + ClampedDuration.nanos(limit);
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

  /// Records that the progress thread has taken the operation as this use of its name.
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

  /// Records that the first stage was begun without the operation, as this use of its name. Before
  /// `resume`.
  void resumes(Collectives owner, int number, StageTask begun) {
    collectives = owner;
    sequence = number;
    stageIndex = 0;
    task = begun;
  }

  /// Continues a stage that was begun. Returns whether the operation is complete.
  boolean resume() {
    Collectives owner = Objects.requireNonNull(collectives);
    owner.inbox().replayEarly(this);
    boolean complete = advance();
    if (!complete && failure == null) {
      owner.failures().failIfDeserted(this);
    }
    return complete;
  }

  /// Advances as far as possible; returns whether the operation is complete.
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

  /// Returns the amount of work that `advance` has done since the last call.
  int takeWork() {
    int work = worked;
    worked = 0;
    return work;
  }

  /// Begins the next stage, and those after it that need no peer. Returns whether all are done.
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

  /// Completes the handle. After success the caller owns the result.
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
    handle.finish(result, null);
  }

  /// Records the failure. `settle` ends the operation when the transport no longer accesses its
  /// memory.
  void fail(CommException cause, long nowNanos) {
    if (failure == null) {
      failure = cause;
      failedNanos = nowNanos;
      handle.tellEnd(this, cause);
    }
  }

  /// Ends a failed operation if possible. Returns whether it has ended.
  boolean settle() {
    StageTask running = task;
    try {
      if (running != null && !running.tryAbandon()) {
        return false;
      }
    } catch (RuntimeException | Error thrown) {
      LOG.error("{} has ended, but its registrations have not", describe(), thrown);
    }
    end();
    return true;
  }

  /// Ends a failed operation although a lost rank may still access its memory, unless its stage
  /// forbids this. Returns whether it has ended.
  boolean settleWithoutTheLost() {
    if (task == null || !task.mayEndWithoutTheLost()) {
      return false;
    }
    LOG.warn("{} ends; a lost rank that is stopped may still access its tensors", describe());
    end();
    return true;
  }

  private void end() {
    task = null;
    try {
      plan.discard();
    } catch (RuntimeException | Error thrown) {
      LOG.error("{} has ended without freeing its memory", describe(), thrown);
    }
    handle.finish(null, failure);
  }

  /// Returns the current stage; null before the first stage and after a failure.
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

  /// Fails the operation if its own memory is gone. Otherwise only prevents completion: a peer that
  /// refused the write has ended the operation and reports this itself, and the mesh reports a lost
  /// endpoint.
  @Override
  public void writeFailed(int member, TransportException cause) {
    Throwable own = cause instanceof TransportException.Refused ? cause.getCause() : null;
    if (own != null) { // this rank's memory is gone
      broken(own);
      return;
    }
    LOG.debug("{}: write to {} failed: {}", name(), group.describe(member), cause.getMessage());
  }

  // --- for the observer

  @Override
  public long communicator() {
    return group.key();
  }

  @Override
  public long submittedNanos() {
    return submittedNanos;
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

  /// Returns a description such as "allreduce 'g1' (FLOAT32[3] SUM)".
  String describe() {
    String words = handle.signature().words();
    int space = words.indexOf(' ');
    return Printable.of(
        words.substring(0, space) + " '" + name() + "' (" + words.substring(space + 1) + ")");
  }

  /// Returns a description with the waiting time. It is 0.0 s for an operation submitted after the
  /// duty cycle has read the clock.
  String describe(long nowNanos) {
    long waited = Math.max(0, nowNanos - submittedNanos);
    return describe()
        + String.format(Locale.ROOT, " for %.1f s, stage %d", waited / 1e9, stageIndex);
  }

  /// Returns whether the current stage cannot end without this member.
  boolean needs(int member) {
    return task != null && task.needs(member);
  }

  List<Integer> waitingFor() {
    return task == null ? List.of() : task.waitingFor();
  }

  List<Integer> usedBy() {
    return task == null ? List.of() : task.usedBy();
  }

  /// Returns the members that never submitted the operation or never replied; if there are none,
  /// those for which this rank waits.
  List<Integer> silent() {
    List<Integer> missing = answers.missing(waitingFor());
    return missing.isEmpty() ? waitingFor() : missing;
  }

  /// Returns the world rank that is to blame for a missed deadline, or -1 if all have begun the
  /// operation and reply, so that any of them may be slow.
  int culprit() {
    List<Integer> missing = answers.missing(waitingFor());
    return missing.isEmpty() ? -1 : group.world(missing.getFirst());
  }

  String excuse(int member) {
    return answers.excuse(member);
  }

  @Override
  public String toString() {
    return describe() + " answers " + answers;
  }
}
