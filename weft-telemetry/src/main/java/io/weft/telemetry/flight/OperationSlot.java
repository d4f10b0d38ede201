// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.observer.ObservedOperation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The record of one operation, in reused memory. Written by one thread at a time, in order; read
/// by any thread. It is a sequence lock in which readers do not wait for the writer; its version is
/// odd while fields change.
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

  final int index;

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

  OperationSlot(int index) {
    this.index = index;
  }

  /// Hot path.
  void begin(ObservedOperation operation, long count, long nowNanos) {
    open();
    number = count;
    communicator = operation.communicator();
    name = operation.name();
    words = operation.words();
    use = operation.sequence() + 1;
    bytes = operation.bytes();
    state = FlightLog.State.RUNNING;
    stage = 0;
    submittedNanos = operation.submittedNanos();
    begunNanos = nowNanos;
    endedNanos = nowNanos;
    awaited = List.of();
    unsubmitted = List.of();
    close();
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
        FlightLog.Flight copy = before == 0 ? null : copy(originNanos);
        VarHandle.loadLoadFence(); // the fields before the version; pairs with the fence in open
        if ((int) VERSION.getOpaque(this) == before) {
          return copy;
        }
      }
      Thread.onSpinWait();
    }
    return null;
  }

  private FlightLog.Flight copy(long originNanos) {
    FlightLog.State seen = state;
    long ended = seen == FlightLog.State.RUNNING ? FlightLog.NEVER : since(originNanos, endedNanos);
    return new FlightLog.Flight(
        number,
        communicator,
        Objects.requireNonNullElse(name, ""),
        Objects.requireNonNullElse(words, ""),
        use,
        bytes,
        new FlightLog.Progress(
            seen,
            stage,
            new FlightLog.Times(
                since(originNanos, submittedNanos), since(originNanos, begunNanos), ended)),
        new FlightLog.Missing(awaited, unsubmitted));
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
