// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.observer.ObservedOperation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The record of one operation, in reused memory. Written by one thread at a time, in order, except
/// by `copy`; read by any thread. It is a sequence lock in which readers do not wait for the
/// writer; its version is odd while fields change.
final class OperationSlot {

  private static final int TRIES = 1000;
  private static final VarHandle VERSION;

  static {
    try {
      VERSION = MethodHandles.lookup().findVarHandle(OperationSlot.class, "version", int.class);
    } catch (ReflectiveOperationException absent) {
      throw new ExceptionInInitializerError(absent);
    }
  }

  private int version;
  private long number;
  private long communicator;
  private @Nullable String name;
  private @Nullable String words;
  private int use;
  private long bytes;
  private FlightLog.State state = FlightLog.State.DONE;
  private int stage;
  private long submittedNanos;
  private long begunNanos;
  private long endedNanos;
  private List<Integer> awaited = List.of();
  private List<Integer> unsubmitted = List.of();

  OperationSlot() {}

  /// Hot path.
  void submit(ObservedOperation operation) {
    open();
    describe(operation);
    number = 0;
    use = 0;
    state = FlightLog.State.SUBMITTED;
    close();
  }

  /// Hot path.
  void begin(ObservedOperation operation, long count, long nowNanos) {
    open();
    describe(operation);
    number = count;
    use = operation.sequence() + 1;
    state = FlightLog.State.RUNNING;
    begunNanos = nowNanos;
    endedNanos = nowNanos;
    close();
  }

  private void describe(ObservedOperation operation) {
    communicator = operation.communicator();
    name = operation.name();
    words = operation.words();
    bytes = operation.bytes();
    stage = 0;
    submittedNanos = operation.submittedNanos();
    awaited = List.of();
    unsubmitted = List.of();
  }

  /// Hot path.
  void stage(int begun) {
    open();
    stage = begun;
    close();
  }

  /// Hot path.
  void done(long nowNanos) {
    open();
    state = FlightLog.State.DONE;
    endedNanos = nowNanos;
    close();
  }

  void failed(List<Integer> missing, List<Integer> absent, long nowNanos) {
    open();
    state = FlightLog.State.FAILED;
    endedNanos = nowNanos;
    awaited = missing;
    unsubmitted = absent;
    close();
  }

  /// Removes the record.
  ///
  /// Hot path.
  void clear() {
    open();
    name = null;
    close();
  }

  /// Copies a record that no thread writes. If another thread copies into this slot at the same
  /// time, one of the two records is lost.
  ///
  /// Hot path.
  void copy(OperationSlot from) {
    int before = (int) VERSION.getAcquire(this);
    if ((before & 1) != 0 || !VERSION.compareAndSet(this, before, before + 1)) {
      return;
    }
    VarHandle.storeStoreFence(); // odd before any field; pairs with the fence in read
    number = from.number;
    communicator = from.communicator;
    name = from.name;
    words = from.words;
    use = from.use;
    bytes = from.bytes;
    state = from.state;
    stage = from.stage;
    submittedNanos = from.submittedNanos;
    begunNanos = from.begunNanos;
    endedNanos = from.endedNanos;
    awaited = from.awaited;
    unsubmitted = from.unsubmitted;
    close();
  }

  /// The number; 0 = not taken. For the writer only.
  long number() {
    return number;
  }

  /// The stage. For the writer only.
  int stage() {
    return stage;
  }

  /// Returns the record, with times since `originNanos`. Null if it is empty, or if its writer kept
  /// changing it or died while changing it. Any thread.
  FlightLog.@Nullable Flight read(long originNanos) {
    for (int tries = 0; tries < TRIES; tries++) {
      int before = (int) VERSION.getAcquire(this); // pairs with the release in close
      if ((before & 1) == 0) {
        FlightLog.Flight copy = before == 0 ? null : flight(originNanos);
        VarHandle.loadLoadFence(); // the fields before the version; pairs with the fence in open
        if ((int) VERSION.getOpaque(this) == before) {
          return copy;
        }
      }
      Thread.onSpinWait();
    }
    return null;
  }

  private FlightLog.@Nullable Flight flight(long originNanos) {
    String called = name;
    if (called == null) {
      return null;
    }
    FlightLog.State seen = state;
    boolean taken = seen != FlightLog.State.SUBMITTED;
    boolean over = taken && seen != FlightLog.State.RUNNING;
    return new FlightLog.Flight(
        number,
        communicator,
        called,
        Objects.requireNonNullElse(words, ""),
        use,
        bytes,
        seen,
        stage,
        new FlightLog.Times(
            since(originNanos, submittedNanos),
            taken ? since(originNanos, begunNanos) : FlightLog.NEVER,
            over ? since(originNanos, endedNanos) : FlightLog.NEVER),
        awaited,
        unsubmitted);
  }

  static long since(long originNanos, long nanos) {
    return Math.max(0, nanos - originNanos);
  }

  private void open() {
    VERSION.setOpaque(this, version + 1);
    VarHandle.storeStoreFence(); // odd before any field; pairs with the fence in read
  }

  private void close() {
    VERSION.setRelease(this, version + 1); // after all fields; pairs with the acquire in read
  }
}
