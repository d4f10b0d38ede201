// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.observer.ObservedOperation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/// The last submissions of users, from which a log shows the operations that a blocked progress
/// thread has not taken. Any thread. Users that submit at the same moment may be recorded in
/// another order than the progress thread's.
final class SubmittedNames {

  private static final int KEPT = 64;

  private final AtomicLong submitted = new AtomicLong();
  private final AtomicLong withdrawn = new AtomicLong();
  private final AtomicReferenceArray<@Nullable String> names = new AtomicReferenceArray<>(KEPT);
  private final AtomicReferenceArray<@Nullable String> words = new AtomicReferenceArray<>(KEPT);
  private final AtomicLongArray communicators = new AtomicLongArray(KEPT);
  private final AtomicLongArray bytes = new AtomicLongArray(KEPT);
  private final AtomicLongArray nanos = new AtomicLongArray(KEPT);

  /// Hot path.
  void add(ObservedOperation operation) {
    int at = (int) (submitted.getAndIncrement() % KEPT);
    words.setPlain(at, operation.words());
    communicators.setPlain(at, operation.communicator());
    bytes.setPlain(at, operation.bytes());
    nanos.setPlain(at, operation.submittedNanos());
    names.setRelease(at, operation.name()); // pairs with the acquire in waiting
  }

  /// Notes that one submission was withdrawn. The list of waiting operations may then be off by
  /// one.
  void withdraw() {
    withdrawn.incrementAndGet();
  }

  /// Number of operations submitted and not withdrawn.
  long count() {
    return submitted.get() - withdrawn.get();
  }

  /// Returns the submissions after the first `begun`, as far as they are kept.
  List<FlightLog.Flight> waiting(long begun, long originNanos) {
    List<FlightLog.Flight> waiting = new ArrayList<>();
    long end = submitted.get();
    for (long i = Math.max(begun + withdrawn.get(), end - KEPT); i < end; i++) {
      int at = (int) (i % KEPT);
      String name = names.getAcquire(at);
      String what = words.getPlain(at);
      if (name != null && what != null) {
        long submittedNanos = OperationSlot.since(originNanos, nanos.getPlain(at));
        waiting.add(
            new FlightLog.Flight(
                0,
                communicators.getPlain(at),
                name,
                what,
                0,
                bytes.getPlain(at),
                new FlightLog.Progress(
                    FlightLog.State.SUBMITTED,
                    0,
                    new FlightLog.Times(submittedNanos, FlightLog.NEVER, FlightLog.NEVER)),
                FlightLog.Missing.NONE));
      }
    }
    return waiting;
  }
}
