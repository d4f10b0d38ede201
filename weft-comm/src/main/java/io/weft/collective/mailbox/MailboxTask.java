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

/// An exchange among ranks that share memory in which each publishes something in a slot of its
/// mailbox and reads the others': the first stage of an operation, and its task. No message
/// travels, unless this rank finds that the exchange does not come about. Then it says so to all
/// (SHARE), and all go on to the next stage.
///
/// It comes about if and only if all members publish the same operation as the same number. What is
/// published stays until all have acknowledged the number, so all see the same; and who leaves the
/// slots knows of a member that does not publish it there and never will: itself, one whose slot
/// has another operation, or one that says so. A rank whose slot is not free yet, or that does not
/// know all mailboxes yet, leaves the slots too: to wait would be to let an operation wait for
/// others, which members may have begun in another order.
///
/// Driven by an operation or, where a caller waits for a short one, in place of one (`begin`,
/// `step`). One object for one operation on one rank. Confined to the progress thread once it has
/// begun.
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
  private boolean over;
  private boolean undone;

  /// By the mailboxes of this rank's communicators.
  protected MailboxTask(SharedMailboxes mailboxes) {
    this.mailboxes = mailboxes;
  }

  // --- what is exchanged

  /// What this rank publishes; copied at once. Once.
  ///
  /// Hot path.
  protected abstract MemorySegment contribution(MailboxSlots slots);

  /// All members publish this operation as this number: goes on as far as possible, or for a
  /// bounded time. Returns the amount of work done. Inside `SharedMailbox.enter`.
  ///
  /// Hot path.
  protected abstract int proceed(MailboxSlots slots, long number);

  /// Whether nobody's slot is needed any more.
  ///
  /// Hot path.
  protected abstract boolean isComplete();

  /// Whether a member has more to publish for this number, when all have published it.
  protected boolean needs(MailboxSlots slots, int member, long number) {
    return false;
  }

  /// The same as `release` after a failure: peers may still be inside what was published.
  protected void abandon() {}

  /// Whether somebody is inside our memory.
  protected boolean isVisited() {
    return false;
  }

  /// What this rank publishes can be seen.
  public void onPublished() {}

  /// Tells how far it is.
  protected final void reached(OperationStage stage) {
    RunningOperation running = operation;
    Consumer<OperationStage> told = watch;
    if (running != null) {
      running.reached(stage);
    } else if (told != null) {
      told.accept(stage);
    }
  }

  /// Whether it has not come about, on no rank, when it is over.
  public final boolean isUndone() {
    return undone;
  }

  /// Whether it has come about, and nothing is left for later stages, when it is over.
  public boolean isWhole() {
    return !undone;
  }

  // --- without an operation

  /// Who is told how far it is while it has no operation.
  public final void watchedBy(Consumer<OperationStage> observer) {
    watch = observer;
  }

  /// Takes the next number for what `subject` says, and publishes it if there is room. Returns
  /// whether it is published; then this rank stays inside the slots until `leave`.
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

  /// Looks at the slots and goes on. Returns whether it is over, or cannot go on without an
  /// operation: a member publishes another one. Inside the slots.
  ///
  /// Hot path.
  public final boolean step() {
    SlotState state = meet();
    if (state == SlotState.SAME) {
      var unused = goOn();
    }
    return over || state == SlotState.OTHER;
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
    over = true;
    SharedMailbox mailbox = mailbox();
    mailbox.acknowledge(number);
    if (waits) {
      mailbox.endWait();
    }
  }

  // --- with an operation

  /// This object: it is the first stage, and finds what it uses of the mesh by its mailboxes.
  @Override
  public final StageTask task(RunningOperation running, int unusedIndex, CollectiveContext unused) {
    operation = running;
    return this;
  }

  /// What was begun without an operation goes on with this one.
  public final StageTask resume(RunningOperation running) {
    operation = running;
    if (!over) {
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

  /// Whatever has happened, the number is published or skipped.
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
    if (over) {
      return 0;
    }
    if (open.isUnusable() && !met) {
      leaveSlots(false); // all have heard why
      return 1;
    }
    if (!open.mailbox().enter()) {
      return 0; // a member has closed its mailbox: it has left or failed, which the mesh tells
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

  /// A member does not come to the slots.
  @Override
  public final void onShare(int peer, MemorySegment frame) {
    if (CollectiveFrame.aux(frame) != 0) {
      operation().brokenBy(peer, "an offer of its memory where none is due");
    } else if (met && !over) {
      operation()
          .brokenBy(peer, "that it leaves the slots in which it has published the operation");
    } else if (!over) {
      leaveSlots(false);
    }
  }

  @Override
  public final boolean done() {
    return over;
  }

  @Override
  public void release() {}

  @Override
  public final boolean tryAbandon() {
    if (!over && slots != null) {
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
    return !over
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
