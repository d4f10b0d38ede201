// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.comm.CommException;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The handlers of peers' requests, by kind. Confined to the progress thread, except `any`.
final class RequestHandlers {

  private final @Nullable RequestHandler[] byKind = new RequestHandler[RequestChannel.MAX_KIND + 1];

  private volatile boolean any;

  /// Sets a handler and notifies it of the peers that are already gone.
  void put(int kind, RequestHandler handler, ChannelPeer[] peers, Consumer<Runnable> guard) {
    byKind[kind] = handler;
    any = true;
    for (ChannelPeer peer : peers) {
      CommException cause = peer.goneBy();
      if (cause != null) {
        guard.accept(() -> handler.onPeerGone(peer.rank(), cause));
      }
    }
  }

  boolean any() {
    return any;
  }

  /// Returns the handler of a request, or null if its kind has none yet.
  @Nullable RequestHandler of(InboundRequest request) {
    return byKind[request.kind()];
  }

  /// Returns the first request that has a handler or is withdrawn; null if there is none.
  @Nullable InboundRequest first(ArrayDeque<InboundRequest> waiting) {
    for (InboundRequest it : waiting) {
      if (it.isWithdrawn() || of(it) != null) {
        return it;
      }
    }
    return null;
  }

  void tellGone(int rank, CommException cause, Consumer<Runnable> guard) {
    for (int kind = 0; any && kind < byKind.length; kind++) {
      RequestHandler handler = byKind[kind];
      if (handler != null) {
        guard.accept(() -> handler.onPeerGone(rank, cause));
      }
    }
  }
}
