// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.comm.CommException;

/// The handler of the requests of one kind from other ranks. It is called on the progress thread
/// and must neither block nor throw.
public interface RequestHandler {

  /// Handles a request of a peer. It must be answered once, now or later.
  void onRequest(IncomingRequest request);

  /// Called when no further request of `rank` arrives and no reply reaches it, because it has left
  /// or is lost, or because this rank leaves. Called once for each rank, after its last request.
  /// For ranks that are already gone it is called when the handler is set.
  default void onPeerGone(int rank, CommException cause) {}
}
