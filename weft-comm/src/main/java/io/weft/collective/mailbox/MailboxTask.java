// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.Stage;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.mailbox.SharedMailbox.SlotState;
import io.weft.observer.OperationStage;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// An exchange among ranks that share memory. Each rank publishes a contribution in a slot of its
/// mailbox and reads the others' slots. It is the first stage of an operation, and its task. The
/// ranks exchange no messages unless this rank finds that the exchange has failed. Then it notifies
/// all members (SHARE), and all continue with the next stage.
///
/// The exchange succeeds if and only if all members publish the same operation as the same number.
/// A published contribution remains until all members have acknowledged the number, so all see the
/// same contributions. A rank that leaves the slots knows of a member that does not publish the
/// operation there and never will: itself, a member whose slot has another operation, or a member
/// that has sent SHARE. A rank whose slot is not free yet, or that does not know all mailboxes yet,
/// also leaves the slots. Waiting would make an operation depend on others, which members may have
/// begun in another order.
///
/// An operation drives the exchange. For a short operation, its waiting caller may drive it without
/// an operation (`begin`, `step`). Each operation on each rank needs a separate instance. Confined
/// to the progress thread once it has begun.
public abstract class MailboxTask implements Stage, StageTask {

  private final SharedMailboxes mailboxes;
  private @Nullable RunningOperation operation;
  private @Nullable MailboxSlots slots;
  private @Nullable Consumer<OperationStage> watch;
  private long number;
  private long subject;
  private boolean published;
  private boolean waits;
  private boolean met;
  private boolean ended;
  private boolean undone;

  protected MailboxTask(SharedMailboxes mailboxes) {
    this.mailboxes = mailboxes;
  }

  // --- the contribution

  /// Returns this rank's contribution, which is copied at once. Called once.
  ///
  /// Hot path.
  protected abstract MemorySegment contribution(MailboxSlots slots);

  /// Advances as far as possible, or for a bounded time, after all members have published this
  /// operation as this number. Returns the amount of work done. Inside `SharedMailbox.enter`.
  ///
  /// Hot path.
  protected abstract int proceed(MailboxSlots slots, long number);

  /// Returns whether no member's slot is needed any more.
  ///
  /// Hot path.
  protected abstract boolean isComplete();

  /// Returns whether a member has more to publish for this number after all members have published
  /// it.
  protected boolean needs(MailboxSlots slots, int member, long number) {
    return false;
  }

  /// Releases after a failure. Peers may still access the published memory.
  protected void abandon() {}

  /// Returns whether a peer accesses this rank's memory.
  protected boolean isVisited() {
    return false;
  }

  /// Called when this rank's contribution is visible to the members.
  public void onPublished() {}

  protected final void reached(OperationStage stage) {
    RunningOperation running = operation;
    Consumer<OperationStage> told = watch;
    if (running != null) {
      running.reached(stage);
    } else if (told != null) {
      told.accept(stage);
    }
  }

  /// Returns whether the ended exchange failed, on all ranks.
  public final boolean isUndone() {
    return undone;
  }

  /// Returns whether the ended exchange succeeded and leaves nothing for later stages.
  public boolean isWhole() {
    return !undone;
  }

  // --- without an operation

  /// Sets the observer of stages that are reached without an operation.
  public final void watchedBy(Consumer<OperationStage> observer) {
    watch = observer;
  }

  /// Takes the next number for the operation that `what` identifies, and publishes it if there is
  /// room. Returns whether it is published; then this rank remains inside the slots until `leave`.
  ///
  /// Hot path.
  public final boolean begin(MailboxSlots open, long what) {
    slots = open;
    subject = what;
    number = open.mailbox().take();
    if (!open.isReady() || !open.mailbox().enter()) {
      return false;
    }
    try {
      published = tryPublish(open);
    } finally {
      if (!published) {
        open.mailbox().leave();
      }
    }
    return published;
  }

  private boolean tryPublish(MailboxSlots open) {
    return open.mailbox().mayWrite(number) && open.publish(number, subject, contribution(open));
  }

  /// Reads the slots and advances. Returns whether the exchange has ended, or cannot continue
  /// without an operation because a member publishes another one. Inside the slots.
  ///
  /// Hot path.
  public final boolean step() {
    SlotState state = meet();
    if (state == SlotState.SAME) {
      var unused = goOn();
    }
    return ended || state == SlotState.OTHER;
  }

  /// Leaves the slots after `begin`.
  public final void leave() {
    mailbox().leave();
  }

  private SlotState meet() {
    if (met) {
      return SlotState.SAME;
    }
    SlotState state = mailbox().look(number, subject);
    if (state == SlotState.SAME) {
      met = true;
      reached(OperationStage.NEGOTIATED);
    }
    return state;
  }

  private int goOn() {
    int work = proceed(slots(), number);
    if (isComplete()) {
      end();
      return 1;
    }
    return work;
  }

  private void end() {
    ended = true;
    SharedMailbox mailbox = mailbox();
    mailbox.acknowledge(number);
    if (waits) {
      mailbox.endWait();
    }
  }

  // --- with an operation

  /// Returns this object, which is the first stage and reaches the mesh through its mailboxes.
  @Override
  public final StageTask task(RunningOperation running, int unusedIndex, CollectiveContext unused) {
    operation = running;
    return this;
  }

  /// Continues with this operation an exchange that was begun without one.
  public final StageTask resume(RunningOperation running) {
    operation = running;
    if (!ended) {
      begun();
    }
    return this;
  }

  @Override
  public final void start() {
    RunningOperation running = operation();
    MailboxSlots open = mailboxes.of(running.group());
    if (begin(open, MailboxSlots.subject(running.key(), running.sequence(), running.signature()))) {
      open.mailbox().leave();
      onPublished();
    }
    begun();
  }

  /// Waits if the number is published, and skips it otherwise.
  private void begun() {
    if (published) {
      waits = true;
      mailbox().beginWait();
    } else {
      slots().skip(number);
      leaveSlots(!slots().isUnusable());
    }
  }

  @Override
  public final int advance() {
    MailboxSlots open = slots();
    if (ended) {
      return 0;
    }
    if (open.isUnusable() && !met) {
      leaveSlots(false); // all members know the cause
      return 1;
    }
    if (!open.mailbox().enter()) {
      return 0; // a member has closed its mailbox; the mesh reports that it left or failed
    }
    try {
      return switch (meet()) {
        case OPEN -> 0;
        case SAME -> goOn();
        case OTHER -> {
          leaveSlots(true);
          yield 1;
        }
      };
    } finally {
      open.mailbox().leave();
    }
  }

  private void leaveSlots(boolean tell) {
    end();
    undone = true;
    RunningOperation running = operation();
    int size = running.group().size();
    for (int peer = 0; tell && peer < size; peer++) {
      if (isOther(peer)) {
        slots()
            .context()
            .send(running, peer, CollectiveFrame.Type.SHARE, 0, 0, CollectiveFrame.HEADER_BYTES);
      }
    }
  }

  /// Leaves the slots, because a member does not publish the operation there.
  @Override
  public final void onShare(int peer, MemorySegment frame) {
    if (CollectiveFrame.aux(frame) != 0) {
      operation().brokenBy(peer, "an offer of its memory where none is due");
    } else if (met && !ended) {
      operation().brokenBy(peer, "a notice that it leaves slots in which it has published");
    } else if (!ended) {
      leaveSlots(false);
    }
  }

  @Override
  public final boolean done() {
    return ended;
  }

  @Override
  public void release() {}

  @Override
  public final boolean tryAbandon() {
    if (!ended && slots != null) {
      if (!published) {
        slots.skip(number);
      }
      end();
    }
    abandon();
    return !isVisited();
  }

  @Override
  public final List<Integer> usedBy() {
    return isVisited() ? members(this::isOther) : List.of();
  }

  @Override
  public final boolean needs(int peer) {
    return !ended
        && isOther(peer)
        && (met ? needs(slots(), peer, number) : !mailbox().publishes(peer, number));
  }

  @Override
  public final List<Integer> waitingFor() {
    return members(this::needs);
  }

  @Override
  public final RunningOperation operation() {
    return Objects.requireNonNull(operation, "with an operation");
  }

  private SharedMailbox mailbox() {
    return slots().mailbox();
  }

  private MailboxSlots slots() {
    return Objects.requireNonNull(slots, "begun before");
  }

  private List<Integer> members(IntPredicate which) {
    return IntStream.range(0, operation().group().size()).filter(which).boxed().toList();
  }

  private boolean isOther(int peer) {
    return peer != operation().group().rank();
  }
}
