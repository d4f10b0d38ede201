// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.IncomingRequest;

/// Who turns a `ShardLoop`.
interface ShardTurner {

  /// Something has come that waits to be done, which was written before. Any thread.
  void wake();

  /// The loop is about to do what is asked. On the thread that turns it.
  ///
  /// @param more whether other requests wait
  void begin(IncomingRequest request, boolean more);
}
