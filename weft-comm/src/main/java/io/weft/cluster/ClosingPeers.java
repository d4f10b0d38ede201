// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// The connections to ranks that this rank has given up. Each is closed when its rank has been told
/// the reason. Without room for the message, the connection stays open for a moment, because a live
/// rank would otherwise consider this rank lost. Confined to the progress thread.
final class ClosingPeers {

  private static final long MOMENT_NANOS = 200_000_000L;

  private record Closing(Endpoint endpoint, MemorySegment word, long since) {}

  private final List<Closing> open = new ArrayList<>(0);

  /// Sends the reason and closes the endpoint, now or when there is room for the message.
  void part(Endpoint endpoint, MeshFrame.Lost why, long nowNanos) {
    var closing = new Closing(endpoint, why.encode(), nowNanos);
    if (!isEnded(closing, nowNanos)) {
      open.add(closing);
    }
  }

  /// Runs once per duty cycle.
  ///
  /// Hot path.
  void poll(long nowNanos) {
    if (!open.isEmpty()) {
      open.removeIf(closing -> isEnded(closing, nowNanos));
    }
  }

  /// Returns whether a rank is still to be told.
  boolean isOpen() {
    return !open.isEmpty();
  }

  private static boolean isEnded(Closing closing, long nowNanos) {
    boolean untold = closing.endpoint.trySend(closing.word) == PostResult.BACK_PRESSURED;
    if (untold && nowNanos - closing.since < MOMENT_NANOS) {
      return false;
    }
    closing.endpoint.close();
    return true;
  }
}
