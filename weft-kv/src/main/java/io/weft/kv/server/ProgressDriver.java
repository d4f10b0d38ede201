// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.agent.AgentRunner;
import io.weft.cluster.channel.IncomingRequest;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Drives the progress engine while a shard's thread waits for its next request, as every thread
/// does that waits for an operation: then a short request costs no hand-over to another thread.
/// What a request changes is done outside of it, as ever. Confined to the thread, but for
/// `interrupt`.
final class ProgressDriver {

  /// How long after the last short request.
  private static final long DRIVE_NANOS = 5_000_000;

  /// A request that moves more is long, as are several: the progress thread carries the next ones
  /// while the thread is busy with it.
  private static final long LONG_BYTES = 16 << 10;

  private final @Nullable AgentRunner runner;
  private volatile boolean driving;
  private boolean drove;
  private long lastRequest;

  /// @param runner of the progress engine; null = it is not driven
  ProgressDriver(@Nullable AgentRunner runner) {
    this.runner = runner;
  }

  /// The thread is about to do what is asked.
  ///
  /// @param more whether other requests wait
  void begin(IncomingRequest request, boolean more) {
    AgentRunner driven = runner;
    if (driven != null) {
      boolean isLong = more || request.payload().byteSize() + request.intoBytes() > LONG_BYTES;
      if (isLong) {
        leave(driven);
      }
      lastRequest = isLong ? driven.nanos() - DRIVE_NANOS : driven.nanos();
    }
  }

  /// Waits inside the engine until there is something to do; false if it is not to be waited so.
  boolean drive(BooleanSupplier due) {
    AgentRunner driven = runner;
    if (driven == null) {
      return false;
    }
    if (driven.nanos() - lastRequest >= DRIVE_NANOS) {
      leave(driven);
      return false;
    }
    driving = true; // volatile: before `due` looks
    drove = true;
    try {
      return driven.drive(due, lastRequest + DRIVE_NANOS);
    } finally {
      driving = false;
    }
  }

  /// There is something to do, which was written before. Any thread.
  void interrupt() {
    AgentRunner driven = runner;
    if (driven != null && driving && !driven.isInside()) {
      driven.commandQueued();
    }
  }

  private void leave(AgentRunner driven) {
    if (drove) {
      drove = false;
      driven.leaveToProgressThread();
    }
  }
}
