// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.CommException;
import io.weft.agent.AgentRunner;
import io.weft.collective.CollectiveObserver;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.group.Group;
import io.weft.collective.group.OperationSignature;
import io.weft.collective.plan.CollectiveKind;
import io.weft.collective.slot.MailboxSlots;
import io.weft.collective.slot.MailboxStage;
import io.weft.collective.slot.MailboxTask;
import io.weft.collective.slot.SharedMailbox.Sight;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A short allreduce among ranks that share memory, and its handle; a barrier is one of a byte. If
/// its user waits for it at once and nothing else is under way, it is done inside `await`: the
/// caller, in the progress thread's place, shows in a slot what it brings, looks at the others' and
/// does its part. In all other cases, and when the others keep it waiting, it becomes an
/// `Operation`, with all that belongs to one.
///
/// Made by a user thread; whoever takes it from the commands goes on with it where the progress
/// thread runs.
final class InlineAllreduce<T> extends PendingHandle<T>
    implements Commands.Deferred, AgentRunner.InlineTask, CollectiveObserver.Subject {

  private final Collectives collectives;
  private final Group group;
  private final MailboxStage<T> stage;
  private final CollectiveKind kind;
  private final Duration limit;
  private final long submittedNanos;
  private @Nullable MailboxSlots slots;
  private int sequence;
  private int observed;
  private long number;
  private long subject;

  /// An ALLREDUCE or BARRIER, which begins with this stage.
  InlineAllreduce(
      MeshCommunicator owner,
      OperationName taken,
      CollectiveKind kind,
      CollectiveOptions options,
      OperationSignature signature,
      MailboxStage<T> stage,
      CopyOut<T> copyOut) {
    super(owner, taken, signature, copyOut);
    this.collectives = owner.collectives();
    this.group = owner.group();
    this.kind = kind;
    this.stage = stage;
    this.limit = owner.limit(options);
    this.submittedNanos = owner.runner().nanos();
  }

  // --- the user's thread

  @Override
  void beforeWait() {
    if (!Thread.currentThread().isInterrupted() && !runner().isInside()) {
      var unused = runner().lend(this, submittedNanos);
    }
  }

  @Override
  public void refuse(CommException full) {
    complete(null, owner().refused(operationName(), full));
  }

  // --- where the progress thread runs

  /// Becomes an operation that has not begun.
  @Override
  public void run() {
    Operation<T> operation;
    try {
      operation = operation();
    } catch (RuntimeException | Error thrown) {
      complete(
          null, FailureMessages.broken(group, signature().words() + " '" + name() + "'", thrown));
      return;
    }
    collectives.begin(operation);
  }

  private Operation<T> operation() {
    OperationPlan<T> plan = stage.plan(owner().plans(kind));
    return new Operation<>(group, operationName(), signature(), plan, this, limit, submittedNanos);
  }

  @Override
  public boolean begin(long sinceNanos) {
    MailboxSlots open = collectives.mailboxes().find(group);
    if (open == null
        || !open.isReady()
        || !collectives.isAlone(this, group)
        || !collectives.commands().take(this)) {
      return false;
    }
    slots = open;
    long key = operationName().key();
    sequence = collectives.names().use(key, group, name(), signature());
    collectives.eviction().onUse(group);
    number = open.take();
    subject = MailboxSlots.subject(key, sequence, signature());
    boolean entered = open.enter();
    boolean published = false;
    Throwable broken = null;
    try {
      published = entered && open.publish(number, subject, stage.published(open));
    } catch (RuntimeException | Error thrown) {
      broken = thrown;
    }
    // What the others need not wait for comes after it.
    observed = collectives.observer().onBegin(this, sinceNanos);
    collectives.observer().onStage(observed, 0, sinceNanos);
    if (!published) {
      if (entered) {
        open.leave();
      }
      becomeOperation(open, false, broken);
    }
    return true;
  }

  @Override
  public boolean advance() {
    MailboxSlots open = slots;
    if (open == null) {
      return true;
    }
    Sight sight = open.look(number, subject);
    if (sight == Sight.OPEN) {
      return false;
    }
    try {
      if (sight == Sight.SAME && !stage.proceed(open, number)) {
        return false;
      }
    } catch (RuntimeException | Error thrown) {
      open.leave();
      becomeOperation(open, true, thrown);
      return true;
    }
    if (sight == Sight.SAME && !stage.isUndone()) {
      open.acknowledge(number);
      open.leave();
      slots = null;
      stage.release();
      end();
    } else {
      giveUp();
    }
    return true;
  }

  private void end() {
    T result;
    try {
      result = copyOut(stage.result());
    } catch (RuntimeException | Error thrown) {
      CommException cause =
          FailureMessages.broken(group, signature().words() + " '" + name() + "'", thrown);
      collectives.observer().onFailed(observed, this, cause, runner().nanos());
      complete(null, cause);
      return;
    }
    collectives.observer().onDone(observed, runner().nanos());
    complete(result, null);
  }

  /// Patience is over, the others show another operation, or there is more to do than by slots.
  @Override
  public void giveUp() {
    MailboxSlots open = Objects.requireNonNull(slots);
    open.leave();
    becomeOperation(open, true, null);
  }

  /// With all that belongs to one; to fail at once of what broke it, if something did.
  private void becomeOperation(MailboxSlots open, boolean published, @Nullable Throwable broken) {
    slots = null;
    Operation<T> operation = operation();
    MailboxTask task = stage.task(operation, open, collectives.context());
    operation.resumes(collectives, sequence, observed, task);
    task.resume(number, subject, published);
    collectives.resume(operation, broken, runner().nanos());
  }

  // --- for the observer

  @Override
  public String name() {
    return operationName().toString();
  }

  @Override
  public long communicator() {
    return group.key();
  }

  @Override
  public String words() {
    return signature().words();
  }

  @Override
  public int sequence() {
    return sequence;
  }

  @Override
  public long bytes() {
    return signature().bytes();
  }

  @Override
  public long submittedNanos() {
    return submittedNanos;
  }

  @Override
  public List<Integer> awaited() {
    return List.of();
  }

  @Override
  public List<Integer> unsubmitted() {
    return List.of();
  }
}
