// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.IncomingRequest;

/// The thread that runs a `ShardLoop`.
interface ShardTurner {

  /// Wakes the thread after a task has been queued. Any thread.
  void wake();

  /// Notifies the thread that the loop is about to execute a request. On the thread that runs the
  /// loop.
  ///
  /// @param more true if other requests wait
  void begin(IncomingRequest request, boolean more);
}
