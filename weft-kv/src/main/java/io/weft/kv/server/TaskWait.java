// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.agent.AgentRunner;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The wait of a shard agent for its next task. The waiting thread may drive the progress engine,
/// as all threads do that wait for an operation, so that a short request needs no handover to
/// another thread. Requests are executed outside of the engine. Confined to the thread that runs
/// the agent, except for `wake`.
public final class TaskWait {

  /// The condition under which the waiting thread drives the progress engine.
  public enum Drive {
    /// The thread never drives it.
    NEVER,
    /// The thread drives it for a while after a short request.
    AFTER_SHORT_REQUESTS,
    /// The thread drives it in every wait.
    ALWAYS
  }

  /// The time for which the engine is driven after the last short request.
  private static final long DRIVE_NANOS = 5_000_000;

  /// The limit of a short request. A request that moves more bytes is long, and so are several
  /// waiting requests. The progress thread then receives the next requests while the shard's thread
  /// is busy.
  private static final long LONG_BYTES = 16 << 10;

  private final AgentRunner progress;
  private final Drive drive;
  private volatile boolean driving;
  private volatile @Nullable Thread waiter;
  private volatile long driveUntil;
  private boolean drove;

  /// @param progress the runner of the progress engine
  public TaskWait(AgentRunner progress, Drive drive) {
    this.progress = progress;
    this.drive = drive;
    this.driveUntil = progress.nanos();
  }

  /// Prepares the execution of a request.
  ///
  /// @param more true if other requests wait
  void begin(Pending request, boolean more, long nowNanos) {
    if (drive == Drive.AFTER_SHORT_REQUESTS) {
      boolean isLong = more || request.payload().byteSize() + request.intoBytes() > LONG_BYTES;
      if (isLong) {
        leave();
      }
      driveUntil = isLong ? nowNanos : nowNanos + DRIVE_NANOS;
    }
  }

  /// Returns whether the next wait drives the engine, so that the thread must not spin before it.
  /// Any thread.
  boolean drives() {
    return drive == Drive.ALWAYS
        || (drive == Drive.AFTER_SHORT_REQUESTS && progress.nanos() - driveUntil < 0);
  }

  /// Waits until `due` returns true, `wake` is called or `maxNanos` have passed.
  void await(BooleanSupplier due, long maxNanos) {
    long end = progress.nanos() + maxNanos;
    waiter = Thread.currentThread(); // volatile, before `due` reads; pairs with `wake`
    try {
      if (!drives()) {
        leave();
      } else if (drive(due, drive == Drive.ALWAYS ? end : driveUntil)) {
        return;
      }
      if (!due.getAsBoolean()) {
        LockSupport.parkNanos(this, Math.max(1, end - progress.nanos()));
      }
    } finally {
      waiter = null;
    }
  }

  private boolean drive(BooleanSupplier due, long endNanos) {
    driving = true;
    drove = true;
    try {
      return progress.drive(due, endNanos);
    } finally {
      driving = false;
    }
  }

  /// Ends the wait, after a task has been queued. Any thread.
  void wake() {
    if (!driving) {
      LockSupport.unpark(waiter);
    } else if (!progress.isInside()) {
      progress.commandQueued();
    }
  }

  /// Returns the engine to the progress thread before work that takes long.
  private void leave() {
    if (drove) {
      drove = false;
      progress.leaveToProgressThread();
    }
  }
}
