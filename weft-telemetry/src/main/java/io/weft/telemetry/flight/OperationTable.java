// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.observer.ObservedOperation;
import io.weft.observer.ObservedOperation.Service;
import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.telemetry.flight.FlightLog.State;
import io.weft.telemetry.record.OperationKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/// The operations of a rank that are queued or in progress, and the last ended ones. A hanging
/// operation keeps its slot, regardless of the number of later operations. Collectives do not
/// displace operations of other services, nor the reverse. Any thread records, one at a time for
/// each operation; any thread reads.
final class OperationTable {

  /// Number of slots for operations in progress, more than a rank ever has.
  static final int MOST_OPEN = 1 << 13;

  /// Slots that are tried first, so that few slots are made while few operations are in progress.
  private static final int NEAR = 1 << 8;

  /// Slots in which an operation may be.
  private static final int WINDOW = 16;

  private static final int QUEUED = 64;
  private static final long FREE = 0;

  private final AtomicLongArray keys = new AtomicLongArray(NEAR + MOST_OPEN);
  private final AtomicReferenceArray<@Nullable OperationSlot> open =
      new AtomicReferenceArray<>(NEAR + MOST_OPEN);
  private final Ended collectives;
  private final Ended others;
  private final AtomicLong begun = new AtomicLong();
  private final AtomicLong begunCollectives = new AtomicLong();

  /// The last ended operations. Any thread.
  private static final class Ended {

    private final AtomicReferenceArray<@Nullable OperationSlot> last;
    private final AtomicLong count = new AtomicLong();

    Ended(int kept) {
      last = new AtomicReferenceArray<>(kept);
    }

    /// Hot path.
    void add(OperationSlot operation) {
      int at = (int) (count.getAndIncrement() % last.length());
      made(last, at).copy(operation);
    }
  }

  /// Creates a table that keeps this number of ended collectives, and as many other ended
  /// operations.
  OperationTable(int kept) {
    collectives = new Ended(kept);
    others = new Ended(kept);
  }

  /// Records a queued operation. Allocates only if its slot was never used.
  ///
  /// Hot path.
  void submit(ObservedOperation operation) {
    int at = claim(key(operation));
    if (at >= 0) {
      made(open, at).submit(operation);
    }
  }

  /// Records the start of an operation.
  ///
  /// Hot path.
  void begin(ObservedOperation operation, long nowNanos) {
    long number = begun.incrementAndGet();
    if (operation.service() == Service.COLLECTIVE) {
      begunCollectives.incrementAndGet();
    }
    long key = key(operation);
    int found = find(key);
    int at = found < 0 ? claim(key) : found;
    if (at >= 0) {
      made(open, at).begin(operation, number, nowNanos);
    }
  }

  /// Hot path.
  void stage(ObservedOperation operation, int stage) {
    int at = find(key(operation));
    if (at >= 0) {
      made(open, at).stage(stage);
    }
  }

  /// Hot path.
  void done(ObservedOperation operation, long nowNanos) {
    int at = find(key(operation));
    if (at >= 0) {
      made(open, at).done(nowNanos);
      end(operation, at);
    }
  }

  /// Records a failure. Returns false if the operation was taken, but no stage of it had begun.
  boolean failed(ObservedOperation operation, long nowNanos) {
    int at = find(key(operation));
    if (at < 0) {
      return true;
    }
    OperationSlot slot = made(open, at);
    boolean underWay = slot.number() == 0 || slot.stage() > 0;
    if (slot.number() > 0) {
      slot.failed(operation.awaited(), operation.unsubmitted(), nowNanos);
    }
    end(operation, at);
    return underWay;
  }

  /// Removes an operation that was not queued after all.
  void withdraw(ObservedOperation operation) {
    int at = find(key(operation));
    if (at >= 0) {
      free(at);
    }
  }

  /// Number of collectives begun. Any thread.
  long begunCollectives() {
    return begunCollectives.getOpaque();
  }

  /// Returns whether a collective is queued or in progress. Any thread.
  boolean busy() {
    for (int at = 0; at < keys.length(); at++) {
      if (OperationKey.isCollective(keys.getAcquire(at))) {
        return true;
      }
    }
    return false;
  }

  /// Returns the oldest collectives and other operations in progress, at most `mostOpen` each, the
  /// kept ended ones, and the oldest queued ones, in the order in which they began, the queued ones
  /// last. Any thread.
  ///
  /// @param collective true for collectives, false for the operations of the other services
  List<Flight> read(boolean collective, long originNanos, int mostOpen) {
    List<Flight> running = new ArrayList<>();
    List<Flight> ending = new ArrayList<>();
    List<Flight> queued = new ArrayList<>();
    for (int at = 0; at < keys.length(); at++) { // before the ended ones, which may be among them
      long key = keys.getAcquire(at);
      OperationSlot slot = open.getAcquire(at);
      if (key != FREE && slot != null && OperationKey.isCollective(key) == collective) {
        Flight flight = slot.read(originNanos);
        if (flight != null) {
          switch (flight.state()) {
            case SUBMITTED -> queued.add(flight);
            case RUNNING -> running.add(flight);
            case DONE, FAILED -> ending.add(flight);
          }
        }
      }
    }
    List<Flight> all = new ArrayList<>();
    Set<Long> numbers = new HashSet<>();
    Ended past = collective ? collectives : others;
    for (int at = 0; at < past.last.length(); at++) {
      OperationSlot slot = past.last.getAcquire(at);
      Flight flight = slot == null ? null : slot.read(originNanos);
      if (flight != null) {
        (flight.state() == State.SUBMITTED ? queued : all).add(flight);
        numbers.add(flight.number());
      }
    }
    ending.stream().filter(each -> numbers.add(each.number())).forEach(all::add);
    running.removeIf(each -> numbers.contains(each.number()));
    running.sort(Comparator.comparingLong(Flight::number));
    all.addAll(running.subList(0, Math.min(mostOpen, running.size())));
    all.sort(Comparator.comparingLong(Flight::number));
    queued.sort(Comparator.comparingLong(each -> each.times().submittedNanos()));
    all.addAll(queued.subList(0, Math.min(QUEUED, queued.size())));
    return all;
  }

  private void end(ObservedOperation operation, int at) {
    (operation.service() == Service.COLLECTIVE ? collectives : others).add(made(open, at));
    free(at);
  }

  private void free(int at) {
    made(open, at).clear();
    keys.setRelease(at, FREE); // pairs with the acquire in claim: the slot is clear
  }

  private static OperationSlot made(AtomicReferenceArray<@Nullable OperationSlot> slots, int at) {
    OperationSlot there = slots.getAcquire(at);
    if (there != null) {
      return there;
    }
    var slot = new OperationSlot();
    OperationSlot first = slots.compareAndExchange(at, null, slot);
    return first == null ? slot : first;
  }

  /// Returns the number of the operation with the next id, which is never `FREE`.
  private static long key(ObservedOperation operation) {
    return OperationKey.of(operation) + OperationKey.STEP;
  }

  private int find(long key) {
    int near = find(key, 0, NEAR);
    return near >= 0 ? near : find(key, NEAR, MOST_OPEN);
  }

  private int find(long key, int from, int slots) {
    int home = home(key);
    for (int i = 0; i < WINDOW; i++) {
      int at = from + (home + i & slots - 1);
      if (keys.getAcquire(at) == key) {
        return at;
      }
    }
    return -1;
  }

  /// Returns a slot that now belongs to the operation; -1 if there is none.
  private int claim(long key) {
    int near = claim(key, 0, NEAR);
    return near >= 0 ? near : claim(key, NEAR, MOST_OPEN);
  }

  private int claim(long key, int from, int slots) {
    int home = home(key);
    for (int i = 0; i < WINDOW; i++) {
      int at = from + (home + i & slots - 1);
      if (keys.getAcquire(at) == FREE && keys.compareAndSet(at, FREE, key)) {
        return at;
      }
    }
    return -1;
  }

  private static int home(long key) {
    return (int) ((key * 0x9E3779B97F4A7C15L) >>> 40);
  }
}
