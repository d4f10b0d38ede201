// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.comm.CommException;

/// Serves the requests of other ranks that have one kind. Called on the progress thread; must
/// neither block nor throw.
public interface RequestHandler {

  /// A peer asks. Replies now or later, once.
  void onRequest(IncomingRequest request);

  /// Nothing more comes from this rank, and nothing reaches it: it has left, is lost, or this rank
  /// itself ends. Said once for each, after the last of its requests; of those that were gone
  /// before this handler came, at first.
  default void onPeerGone(int rank, CommException cause) {}
}
