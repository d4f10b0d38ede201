// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.slot;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.Stage;
import io.weft.collective.plan.AlgorithmPlan;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;

/// An exchange among ranks that share memory in which each shows something in a slot of its mailbox
/// and reads the others'. Where that does not come about, on all ranks alike, later stages of its
/// `plan` do what is left. One object for one operation on one rank. Confined to the progress
/// thread once it has begun.
///
/// @param <T> what the operation gives
public abstract class MailboxStage<T> implements Stage {

  private final SharedMailboxes mailboxes;
  private boolean undone;

  /// By the mailboxes of this rank's communicators.
  protected MailboxStage(SharedMailboxes mailboxes) {
    this.mailboxes = mailboxes;
  }

  /// The operation: this stage, and those that do what this has left undone.
  ///
  /// @param plans by the name of an algorithm
  public abstract OperationPlan<T> plan(Function<String, AlgorithmPlan> plans);

  /// What the operation gives when it is done.
  public abstract T result();

  /// What this rank shows; copied before anything else happens. Once.
  ///
  /// Hot path.
  public abstract MemorySegment published(MailboxSlots slots);

  /// All members show this operation as this number: goes on as far as possible, or for a bounded
  /// time. Returns whether nobody's slot is needed any more; until then it is called again. Inside
  /// `MailboxSlots.enter`.
  ///
  /// Hot path.
  public abstract boolean proceed(MailboxSlots slots, long number);

  /// Whether a member has more to show for this number.
  protected boolean needs(MailboxSlots slots, int member, long number) {
    return !slots.publishes(member, number);
  }

  /// Ends what was registered, when it is over.
  public void release() {}

  /// The same after a failure: peers may still be inside what was shown.
  protected void abandon() {}

  /// Whether somebody is inside our memory.
  protected boolean isVisited() {
    return false;
  }

  /// Whether later stages have something to do; the same on all ranks. When it is over.
  public boolean isUndone() {
    return undone;
  }

  /// It does not come about, on no rank.
  protected final void leaveUndone() {
    undone = true;
  }

  @Override
  public final MailboxTask task(RunningOperation operation, int phase, CollectiveContext context) {
    return task(operation, mailboxes.of(operation.group()), context);
  }

  /// The same with slots that were found before.
  public final MailboxTask task(
      RunningOperation operation, MailboxSlots slots, CollectiveContext context) {
    return new MailboxTask(operation, this, slots, context);
  }
}
