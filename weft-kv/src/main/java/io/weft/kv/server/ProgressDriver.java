// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.agent.AgentRunner;
import io.weft.cluster.channel.IncomingRequest;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Drives the progress engine while a shard's thread waits for its next request, as all threads do
/// that wait for an operation. A short request thus needs no handover to another thread. Requests
/// are executed outside of the engine. Confined to the thread, except for `interrupt`.
final class ProgressDriver {

  /// The time for which the engine is driven after the last short request.
  private static final long DRIVE_NANOS = 5_000_000;

  /// The limit of a short request. A request that moves more bytes is long, and so are several
  /// waiting requests. The progress thread then receives the next requests while the shard's thread
  /// is busy.
  private static final long LONG_BYTES = 16 << 10;

  private final @Nullable AgentRunner runner;
  private volatile boolean driving;
  private boolean drove;
  private long lastRequest;

  /// @param runner of the progress engine; null if it is not driven
  ProgressDriver(@Nullable AgentRunner runner) {
    this.runner = runner;
  }

  /// Prepares the execution of a request.
  ///
  /// @param more true if other requests wait
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

  /// Drives the engine until there is work. Returns false if the engine must not be driven.
  boolean drive(BooleanSupplier due) {
    AgentRunner driven = runner;
    if (driven == null) {
      return false;
    }
    if (driven.nanos() - lastRequest >= DRIVE_NANOS) {
      leave(driven);
      return false;
    }
    driving = true; // volatile, before `due` reads
    drove = true;
    try {
      return driven.drive(due, lastRequest + DRIVE_NANOS);
    } finally {
      driving = false;
    }
  }

  /// Interrupts the wait, after work has been queued. Any thread.
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
