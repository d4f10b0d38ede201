// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.observer.ObservedOperation;
import io.weft.transport.table.LongMap;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The operations of a rank in progress, and the last ended ones. A hanging operation keeps its
/// slot, regardless of the number of later operations. Written by one thread at a time, in order;
/// read by any thread.
final class OperationRing {

  /// Maximum number of recorded operations in progress, more than a rank ever has.
  static final int MOST_OPEN = 1 << 13;

  /// The slot of an operation that is not recorded.
  private static final int NO_SLOT = -1;

  private static final VarHandle BEGUN;

  static {
    try {
      BEGUN = MethodHandles.lookup().findVarHandle(OperationRing.class, "begun", long.class);
    } catch (ReflectiveOperationException absent) {
      throw new ExceptionInInitializerError(absent);
    }
  }

  private final LongMap<OperationSlot> open = new LongMap<>();
  private final int[] ended;
  private int oldest;
  private int endedCount;
  private volatile @Nullable OperationSlot[] slots = new OperationSlot[64];
  private int made;
  private int[] free = new int[64];
  private int freeCount;
  private long begun;

  /// Creates a ring that keeps this number of ended operations.
  OperationRing(int kept) {
    if (kept < 1) {
      throw new IllegalArgumentException("a ring of " + kept + " operations");
    }
    this.ended = new int[kept];
  }

  /// Records an operation. Allocates only if more operations are in progress than ever before.
  ///
  /// Hot path.
  void begin(ObservedOperation operation, long nowNanos) {
    BEGUN.setOpaque(this, begun + 1);
    int slot = freeCount > 0 ? free[--freeCount] : another();
    if (slot != NO_SLOT) {
      at(slot).begin(operation, begun, nowNanos);
      open.put(operation.id(), at(slot));
    }
  }

  /// Hot path.
  void stage(ObservedOperation operation, int stage) {
    OperationSlot slot = open.get(operation.id());
    if (slot != null) {
      slot.stage(stage);
    }
  }

  /// Hot path.
  void done(ObservedOperation operation, long nowNanos) {
    OperationSlot slot = open.remove(operation.id());
    if (slot != null) {
      slot.done(nowNanos);
      keep(slot.index);
    }
  }

  /// Records a failure. Returns whether a stage of the operation had begun.
  boolean failed(ObservedOperation operation, long nowNanos) {
    OperationSlot slot = open.remove(operation.id());
    if (slot == null) {
      return true;
    }
    slot.failed(operation.awaited(), operation.unsubmitted(), nowNanos);
    keep(slot.index);
    return slot.stage() > 0;
  }

  /// Number of operations begun. Any thread.
  long begun() {
    return (long) BEGUN.getOpaque(this);
  }

  /// Returns the oldest operations in progress, at most `mostOpen`, and the kept ended ones, in the
  /// order in which they began. Any thread.
  List<FlightLog.Flight> read(long originNanos, int mostOpen) {
    List<FlightLog.Flight> open = new ArrayList<>();
    List<FlightLog.Flight> past = new ArrayList<>();
    for (OperationSlot slot : slots) {
      FlightLog.Flight flight = slot == null ? null : slot.read(originNanos);
      if (flight != null) {
        (flight.state() == FlightLog.State.RUNNING ? open : past).add(flight);
      }
    }
    Comparator<FlightLog.Flight> order = Comparator.comparingLong(FlightLog.Flight::number);
    open.sort(order);
    past.sort(order);
    List<FlightLog.Flight> all =
        new ArrayList<>(past.subList(Math.max(0, past.size() - ended.length), past.size()));
    all.addAll(open.subList(0, Math.min(mostOpen, open.size())));
    all.sort(order);
    return all;
  }

  private OperationSlot at(int slot) {
    OperationSlot there = slots[slot];
    if (there == null) {
      throw new IllegalStateException("no slot " + slot);
    }
    return there;
  }

  private int another() {
    if (made == MOST_OPEN + ended.length) {
      return NO_SLOT;
    }
    if (made == slots.length) {
      slots = Arrays.copyOf(slots, made * 2);
    }
    OperationSlot[] table = slots;
    table[made] = new OperationSlot(made);
    slots = table; // volatile: publishes the slot
    return made++;
  }

  private void keep(int slot) {
    if (endedCount < ended.length) {
      ended[endedCount++] = slot;
      return;
    }
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, freeCount * 2);
    }
    free[freeCount++] = ended[oldest];
    ended[oldest] = slot;
    oldest = (oldest + 1) % ended.length;
  }
}
