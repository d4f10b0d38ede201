// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.comm.CommException;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Who serves the requests of peers, by kind. Confined to the progress thread, but for `any`.
final class RequestHandlers {

  private final @Nullable RequestHandler[] byKind = new RequestHandler[RequestChannel.MAX_KIND + 1];

  private volatile boolean any;

  /// It is told of those of the peers that are gone already.
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

  /// Whether there is one.
  boolean any() {
    return any;
  }

  /// Null where nobody serves requests of this kind yet.
  @Nullable RequestHandler of(InboundRequest request) {
    return byKind[request.kind()];
  }

  /// The first one that is served, or that nobody wants any more; null if there is none.
  @Nullable InboundRequest first(ArrayDeque<InboundRequest> waiting) {
    for (InboundRequest it : waiting) {
      if (it.isWithdrawn() || of(it) != null) {
        return it;
      }
    }
    return null;
  }

  /// Tells all that nothing more comes from this rank.
  void tellGone(int rank, CommException cause, Consumer<Runnable> guard) {
    for (int kind = 0; any && kind < byKind.length; kind++) {
      RequestHandler handler = byKind[kind];
      if (handler != null) {
        guard.accept(() -> handler.onPeerGone(rank, cause));
      }
    }
  }
}
