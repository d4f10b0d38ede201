// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.slot;

import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.Script;
import io.weft.collective.exchange.Stage;
import io.weft.collective.exchange.Wires;
import io.weft.collective.plan.Plan;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;

/// An exchange among ranks that share memory in which each shows something in a slot of its board
/// and reads the others'. Where that does not come about, on all ranks alike, later stages of its
/// `script` do what is left. One object for one operation on one rank. Confined to the lane's
/// thread once it has begun.
///
/// @param <T> what the operation gives
public abstract class SlotStage<T> implements Stage {

  private final SlotBoards boards;
  private boolean undone;

  /// By the boards of this rank's communicators.
  protected SlotStage(SlotBoards boards) {
    this.boards = boards;
  }

  /// The operation: this stage, and those that do what this has left undone.
  ///
  /// @param plans by the name of an algorithm
  public abstract Script<T> script(Function<String, Plan> plans);

  /// What the operation gives when it is done.
  public abstract T result();

  /// What this rank shows; copied before anything else happens. Once.
  ///
  /// Hot path.
  public abstract MemorySegment shown(Slots slots);

  /// All members show this operation as this number: goes on as far as possible, or for a bounded
  /// time. Returns whether nobody's slot is needed any more; until then it is called again. Inside
  /// `Slots.enter`.
  ///
  /// Hot path.
  public abstract boolean proceed(Slots slots, long number);

  /// Whether a member has more to show for this number.
  protected boolean needs(Slots slots, int member, long number) {
    return !slots.shows(member, number);
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
  public final SlotExchange exchange(RunningOperation operation, int phase, Wires wires) {
    return exchange(operation, boards.of(operation.group()), wires);
  }

  /// The same with slots that were found before.
  public final SlotExchange exchange(RunningOperation operation, Slots slots, Wires wires) {
    return new SlotExchange(operation, this, slots, wires);
  }
}
