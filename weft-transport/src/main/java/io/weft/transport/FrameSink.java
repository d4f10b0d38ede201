// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.foreign.MemorySegment;

/// The callbacks of a transport on its polling thread. They must not block and must not throw.
public interface FrameSink {

  /// Called when an endpoint is usable: one that `connect` returned, or one that the peer opened.
  void onConnect(Endpoint endpoint);

  /// Called when a message has arrived; `message` is valid only during the call.
  void onMessage(Endpoint from, MemorySegment message);

  /// Called when a peer's write with this immediate value has completed and all its bytes are
  /// visible.
  void onNotify(Endpoint from, int immediate);

  /// Called once for each endpoint that fails, after its posted work has failed.
  void onFailure(Endpoint from, TransportException cause);
}
