// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.cluster.Topology;
import io.weft.collective.CommunicatorObserver;
import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.ObservedOperation.Service;
import io.weft.observer.OperationObserver;
import io.weft.observer.OperationStage;
import io.weft.telemetry.flight.FlightLog.CircleState;
import io.weft.telemetry.flight.FlightLog.EventKind;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/// The recorder of the last operations of one rank, in reused slots without allocation, and of its
/// events, in short lists. Recording happens on the thread that runs the agent. Any thread can read
/// at any time, also while the progress thread stands still.
public final class FlightRecorder implements OperationObserver, CommunicatorObserver {

  /// Number of ended operations kept, and maximum number of operations in progress in one log.
  public static final int KEPT = 256;

  /// Longer than the pauses of a progress thread that idles or shares its processor.
  private static final long STALL_NANOS = 1_000_000_000L;

  private static final VarHandle TURNED;

  static {
    try {
      TURNED = MethodHandles.lookup().findVarHandle(FlightRecorder.class, "turned", long.class);
    } catch (ReflectiveOperationException absent) {
      throw new ExceptionInInitializerError(absent);
    }
  }

  /// The facts that a rank knows about itself once it has joined.
  private record Joined(
      FlightLog.Self self,
      Topology topology,
      long nanos,
      IntToLongFunction lastHeard,
      AtomicLongArray heard) {}

  private final OperationRing operations = new OperationRing(KEPT);

  /// The operations of a parameter server, which several threads report. Guarded by itself.
  private final OperationRing tableOperations = new OperationRing(KEPT);

  private final SubmittedNames submitted = new SubmittedNames();
  private final EventLog eventLog = new EventLog();
  private volatile @Nullable Joined joined;
  private volatile @Nullable Runnable alarm;
  private long turned;

  /// Creates an empty recorder.
  public FlightRecorder() {}

  /// Sets the rank, which has just joined; times count from now. Must be called before the progress
  /// thread starts.
  ///
  /// @param self the rank of the recorder
  /// @param topology the members of the job
  /// @param nowNanos the time by the progress thread's clock
  /// @param lastHeard returns the time of a rank's last sign of life, by the progress thread's
  ///   clock; called on the progress thread
  public void joined(
      FlightLog.Self self, Topology topology, long nowNanos, IntToLongFunction lastHeard) {
    Objects.requireNonNull(self, "self");
    Objects.requireNonNull(lastHeard, "lastHeard");
    var heard = new AtomicLongArray(topology.size());
    for (int peer = 0; peer < topology.size(); peer++) {
      heard.setPlain(peer, FlightLog.NEVER);
    }
    TURNED.setOpaque(this, nowNanos);
    joined = new Joined(self, topology, nowNanos, lastHeard, heard);
  }

  /// Sets an action to call after each failure, on the thread that runs the agent. It must not
  /// block.
  public void onFailure(Runnable action) {
    Objects.requireNonNull(action, "action");
    alarm = action;
  }

  /// Returns the current log. Any thread. Throws `IllegalStateException` before the rank has
  /// joined.
  ///
  /// @param nowNanos the time by the progress thread's clock
  public FlightLog log(long nowNanos) {
    Joined known = known();
    long begun = operations.begun();
    List<FlightLog.Flight> flights = new ArrayList<>(operations.read(known.nanos(), KEPT));
    long forgotten = Math.max(0, begun - flights.size());
    flights.addAll(submitted.waiting(begun, known.nanos()));
    flights.addAll(tableOperations.read(known.nanos(), KEPT));
    List<FlightLog.Peer> peers = new ArrayList<>();
    for (int peer = 0; peer < known.topology().size(); peer++) {
      if (peer != known.self().rank()) {
        String host = known.topology().members().get(peer).host();
        peers.add(new FlightLog.Peer(peer, host, known.heard().get(peer)));
      }
    }
    long written = OperationSlot.since(known.nanos(), nowNanos);
    long looked = OperationSlot.since(known.nanos(), (long) TURNED.getOpaque(this));
    return new FlightLog(
        known.self(),
        new FlightLog.Counts(written, looked, begun, forgotten),
        eventLog.failures(),
        eventLog.circles(),
        peers,
        eventLog.events(),
        flights);
  }

  /// Returns whether operations are in progress or queued. Any thread.
  public boolean busy() {
    return submitted.count() > operations.begun()
        || operations.read(0, 1).stream().anyMatch(f -> f.state() == FlightLog.State.RUNNING);
  }

  // --- the operations

  /// Returns false, because the recorder keeps no times of stages.
  @Override
  public boolean hearsStages() {
    return false;
  }

  @Override
  public void submitted(ObservedOperation operation) {
    if (operation.service() == Service.COLLECTIVE) {
      submitted.add(operation);
    }
  }

  @Override
  public void withdrawn(ObservedOperation operation, CommException cause, long nanos) {
    Objects.requireNonNull(operation, "operation");
    Objects.requireNonNull(cause, "cause");
    if (operation.service() == Service.COLLECTIVE) {
      submitted.withdraw();
    }
  }

  @Override
  public void reached(ObservedOperation operation, OperationStage stage, int exchange, long nanos) {
    if (isOfTables(operation) && stage == OperationStage.STARTED) {
      synchronized (tableOperations) {
        tableOperations.begin(operation, nanos);
      }
    }
    if (operation.service() != Service.COLLECTIVE) {
      return;
    }
    switch (stage) {
      case STARTED -> operations.begin(operation, nanos);
      case EXCHANGE -> operations.stage(operation, exchange + 1);
      case NEGOTIATED, SENT, REDUCED -> {}
    }
  }

  @Override
  public void ended(ObservedOperation operation, @Nullable CommException failure, long nanos) {
    if (isOfTables(operation)) {
      synchronized (tableOperations) {
        if (failure == null) {
          tableOperations.done(operation, nanos);
        } else {
          var unused = tableOperations.failed(operation, nanos);
        }
      }
    }
    if (operation.service() != Service.COLLECTIVE) {
      return;
    }
    if (failure == null) {
      operations.done(operation, nanos);
    } else {
      failed(operation, failure, nanos);
    }
  }

  private static boolean isOfTables(ObservedOperation operation) {
    return operation.service() == Service.KV_WORKER || operation.service() == Service.KV_SERVER;
  }

  private void failed(ObservedOperation operation, CommException cause, long nowNanos) {
    boolean underWay = operations.failed(operation, nowNanos);
    if (underWay || !eventLog.closed(operation.communicator())) {
      boolean news = fail(operation.communicator(), cause, operation.name(), nowNanos);
      if (underWay && !news) {
        alarm(); // the previous log shows it as running
      }
    }
  }

  // --- events of the rank

  @Override
  public void onOpen(long key, long epoch, int instance, List<Integer> ranks) {
    eventLog.opened(key, epoch, instance, ranks);
  }

  @Override
  public void onClosed(long key, long nowNanos) {
    eventLog.ended(key, CircleState.CLOSED, since(nowNanos));
  }

  @Override
  public void onAborted(long key, CommException cause, long nowNanos) {
    if (eventLog.ended(key, CircleState.FAILED, since(nowNanos))) {
      var unused = fail(key, cause, "", nowNanos);
    }
  }

  @Override
  public void onTold(int fromRank, CommException cause, long nowNanos) {
    eventLog.told(fromRank, cause, since(nowNanos));
  }

  @Override
  public void onPeerLost(int rank, int witness, String why, long nowNanos) {
    eventLog.lost(rank, witness == known().self().rank() ? -1 : witness);
    eventLog.happened(since(nowNanos), EventKind.LOST, rank, why);
  }

  @Override
  public void onPeerLeft(int rank, long nowNanos) {
    eventLog.happened(since(nowNanos), EventKind.LEFT, rank, "in order");
  }

  @Override
  public void onDutyCycle(long nowNanos) {
    long before = turned;
    TURNED.setOpaque(this, nowNanos);
    if (nowNanos - before > STALL_NANOS) {
      long millis = (nowNanos - before) / 1_000_000;
      eventLog.happened(since(nowNanos), EventKind.STALLED, -1, "for " + millis + " ms");
    }
  }

  /// Notes a failure. Returns whether it differs from the previous one.
  private boolean fail(long communicator, CommException cause, String operation, long nowNanos) {
    if (!eventLog.failed(since(nowNanos), communicator, cause, operation)) {
      return false;
    }
    Joined known = known();
    for (int peer = 0; peer < known.heard().length(); peer++) {
      if (peer != known.self().rank()) {
        known.heard().setOpaque(peer, since(known.lastHeard().applyAsLong(peer)));
      }
    }
    alarm();
    return true;
  }

  private void alarm() {
    Runnable action = alarm;
    if (action != null) {
      action.run();
    }
  }

  private long since(long nanos) {
    return OperationSlot.since(known().nanos(), nanos);
  }

  private Joined known() {
    return Objects.requireNonNull(joined, "the rank has not joined");
  }
}
