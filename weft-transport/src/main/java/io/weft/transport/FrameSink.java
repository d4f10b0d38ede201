// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.foreign.MemorySegment;

/// What the polling thread hears. Must not block and must not throw.
public interface FrameSink {

  /// An endpoint is usable: one that `connect` returned, or one that the peer opened.
  void onConnect(Endpoint endpoint);

  /// A message arrived; `message` is valid during the call only.
  void onMessage(Endpoint from, MemorySegment message);

  /// A peer's write with this immediate value has landed and is fully visible.
  void onNotify(Endpoint from, int immediate);

  /// This endpoint is dead; its posted work has failed. Said once for each endpoint.
  void onFailure(Endpoint from, TransportException cause);
}
