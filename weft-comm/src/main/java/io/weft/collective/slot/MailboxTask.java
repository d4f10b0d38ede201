// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.slot;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.slot.SharedMailbox.Sight;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/// An exchange by slots of a mailbox: no message travels, unless this rank finds that there will be
/// none by slots. Then it says so to all (SHARE), and all go on to the next stage.
///
/// It comes about if and only if all members show the same operation as the same number. What is
/// shown stays until all have finished the number, so all see the same; and who leaves the slots
/// knows of a member that does not show it there and never will: itself, one whose slot shows
/// another operation, or one that says so. Confined to the progress thread.
public final class MailboxTask implements StageTask {

  private final RunningOperation operation;
  private final MailboxStage<?> stage;
  private final MailboxSlots slots;
  private final CollectiveContext context;
  private long number;
  private long subject;
  private boolean waits;
  private boolean met;
  private boolean over;

  MailboxTask(
      RunningOperation operation,
      MailboxStage<?> stage,
      MailboxSlots slots,
      CollectiveContext context) {
    this.operation = operation;
    this.stage = stage;
    this.slots = slots;
    this.context = context;
  }

  @Override
  public RunningOperation operation() {
    return operation;
  }

  @Override
  public void start() {
    long subject =
        MailboxSlots.subject(operation.key(), operation.sequence(), operation.signature());
    long taken = slots.take();
    boolean published = false;
    try {
      if (slots.isReady() && slots.enter()) {
        try {
          published = slots.publish(taken, subject, stage.published(slots));
        } finally {
          slots.leave();
        }
      }
    } finally {
      resume(taken, subject, published); // whatever happens, the number is shown or owed
    }
  }

  /// Goes on with what was begun without an operation; `published`: whether this rank's slot is
  /// written.
  public void resume(long taken, long what, boolean published) {
    number = taken;
    subject = what;
    if (published) {
      waits = true;
      slots.beginWait();
    } else {
      slots.skip(taken);
      leaveSlots(!slots.isUnusable());
    }
  }

  @Override
  public int advance() {
    if (over) {
      return 0;
    }
    if (slots.isUnusable() && !met) {
      leaveSlots(false); // all have heard why
      return 1;
    }
    if (!slots.enter()) {
      return 0; // a member has closed its mailbox: it has left or failed, which the mesh tells
    }
    Sight sight;
    boolean goesOn;
    try {
      sight = slots.look(number, subject);
      met = sight == Sight.SAME;
      goesOn = sight == Sight.OPEN || (met && !stage.proceed(slots, number));
    } finally {
      slots.leave();
    }
    if (goesOn) {
      return 0;
    }
    if (met) {
      end();
    } else {
      leaveSlots(true);
    }
    return 1;
  }

  private void end() {
    over = true;
    slots.acknowledge(number);
    if (waits) {
      slots.endWait();
    }
  }

  private void leaveSlots(boolean tell) {
    end();
    stage.leaveUndone();
    int size = operation.group().size();
    for (int peer = 0; tell && peer < size; peer++) {
      if (peer != operation.group().rank()) {
        context.send(
            operation, peer, CollectiveFrame.Type.SHARE, 0, 0, CollectiveFrame.HEADER_BYTES);
      }
    }
  }

  /// A member does not come to the slots.
  @Override
  public void onShare(int peer, MemorySegment frame) {
    if (CollectiveFrame.aux(frame) != 0) {
      operation.brokenBy(peer, "an offer of its memory where none is due");
    } else if (met && !over) {
      operation.brokenBy(peer, "that it leaves the slots in which it has shown the operation");
    } else if (!over) {
      leaveSlots(false);
    }
  }

  @Override
  public boolean done() {
    return over;
  }

  @Override
  public void release() {
    stage.release();
  }

  @Override
  public boolean tryAbandon() {
    if (!over) {
      end();
    }
    stage.abandon();
    return !stage.isVisited();
  }

  @Override
  public List<Integer> usedBy() {
    return stage.isVisited() ? members(this::isOther) : List.of();
  }

  @Override
  public boolean needs(int peer) {
    return !over && isOther(peer) && stage.needs(slots, peer, number);
  }

  @Override
  public List<Integer> waitingFor() {
    return members(this::needs);
  }

  private List<Integer> members(IntPredicate which) {
    return IntStream.range(0, operation.group().size()).filter(which).boxed().toList();
  }

  private boolean isOther(int peer) {
    return peer != operation.group().rank();
  }
}
