// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.group.Group;
import io.weft.collective.group.OperationSignature;
import io.weft.collective.mailbox.MailboxSlots;
import io.weft.collective.mailbox.MailboxTask;
import io.weft.comm.CommException;
import io.weft.observer.OperationStage;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// An operation among ranks that share memory, and its handle: an allreduce by mailbox or on mapped
/// memory, of any length, or a barrier. If its user waits at once and nothing else is in flight, it
/// runs inside `await`: the caller acts as the progress thread, publishes its contribution in a
/// slot, reads the others' slots and does its part. In all other cases, and when the others keep it
/// waiting, it becomes a complete `Operation`.
///
/// A user thread creates it. The thread that takes it from the commands continues it in the context
/// of the progress thread.
final class InlineOperation<T> extends PendingHandle<T>
    implements Commands.Deferred, AgentRunner.InlineTask, PreparedOperation<T> {

  private final MailboxTask task;
  private final OperationPlan<T> plan;
  private final Duration limit;
  private final long submittedNanos;
  private int sequence;
  private boolean ended;

  /// Creates an allreduce or barrier of this plan, whose first stage is the task.
  InlineOperation(
      MeshCommunicator owner,
      OperationName taken,
      CollectiveOptions options,
      OperationSignature signature,
      MailboxTask task,
      OperationPlan<T> plan,
      CopyOut<T> copyOut) {
    super(owner, taken, signature, copyOut);
    this.task = task;
    this.plan = plan;
    this.limit = owner.limit(options);
    this.submittedNanos = owner.runner().nanos();
  }

  // --- the user's thread

  @Override
  public PendingHandle<T> handle() {
    return this;
  }

  @Override
  public void enter(Collectives into) {
    into.commands().defer(this, limit);
  }

  @Override
  protected void beforeWait() {
    if (!Thread.currentThread().isInterrupted() && !runner().isInside()) {
      var unused = runner().lend(this, submittedNanos);
    }
  }

  @Override
  public void refuse(CommException full) {
    CommException cause = owner().refused(operationName(), full);
    collectives().observer().withdrawn(this, cause, runner().nanos());
    finish(null, cause);
  }

  // --- on the thread that runs the progress engine

  private Collectives collectives() {
    return owner().collectives();
  }

  private Group group() {
    return owner().group();
  }

  /// Becomes an operation that has not begun.
  @Override
  public void run() {
    collectives().begin(operation());
  }

  private Operation<T> operation() {
    return new Operation<>(plan, this, limit, submittedNanos);
  }

  @Override
  public boolean begin(long sinceNanos) {
    MailboxSlots open = collectives().mailboxes().find(group());
    if (open == null
        || !open.isReady()
        || !collectives().isAlone(this, group())
        || !collectives().commands().take(this)) {
      return false;
    }
    long key = operationName().key();
    sequence = collectives().names().use(key, group(), name(), signature());
    collectives().eviction().onUse(group());
    boolean published = false;
    Throwable broken = null;
    try {
      published = task.begin(open, MailboxSlots.subject(key, sequence, signature()));
    } catch (RuntimeException | Error thrown) {
      broken = thrown;
    }
    // The following steps come later because the other ranks need not wait for them.
    collectives().observer().reached(this, OperationStage.STARTED, 0, sinceNanos);
    collectives().observer().reached(this, OperationStage.EXCHANGE, 0, sinceNanos);
    if (collectives().observer().hearsStages()) {
      task.watchedBy(this::reached);
    }
    if (published) {
      task.onPublished();
    } else {
      becomeOperation(broken);
    }
    return true;
  }

  private void reached(OperationStage stage) {
    collectives().observer().reached(this, stage, 0, runner().nanos());
  }

  @Override
  public boolean advance() {
    if (ended) {
      return true;
    }
    try {
      if (!task.step()) {
        return false;
      }
    } catch (RuntimeException | Error thrown) {
      task.leave();
      becomeOperation(thrown);
      return true;
    }
    task.leave();
    if (task.done() && task.isWhole()) {
      ended = true;
      task.release();
      end();
    } else {
      becomeOperation(null);
    }
    return true;
  }

  private void end() {
    T result;
    try {
      result = copyOut(plan.result());
    } catch (RuntimeException | Error thrown) {
      CommException cause =
          FailureMessages.broken(group(), signature().words() + " '" + name() + "'", thrown);
      tellEnd(this, cause);
      finish(null, cause);
      return;
    }
    tellEnd(this, null);
    finish(result, null);
  }

  /// Ends the caller's wait; the operation continues without it.
  @Override
  public void giveUp() {
    task.leave();
    becomeOperation(null);
  }

  /// Becomes a complete operation, which fails at once if `broken` is not null.
  private void becomeOperation(@Nullable Throwable broken) {
    ended = true;
    Operation<T> operation = operation();
    operation.resumes(collectives(), sequence, task.resume(operation));
    collectives().resume(operation, broken, runner().nanos());
  }

  // --- for the observer

  @Override
  public String name() {
    return operationName().toString();
  }

  @Override
  public long communicator() {
    return group().key();
  }

  @Override
  public int sequence() {
    return sequence;
  }

  @Override
  public long submittedNanos() {
    return submittedNanos;
  }
}
