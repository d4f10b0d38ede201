// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.comm.CommException;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Who serves the requests of peers, by kind. Set by any thread, read by the progress thread.
final class RequestHandlers {

  /// A volatile store of a handler releases what it can see to the progress thread.
  private final AtomicReferenceArray<@Nullable RequestHandler> byKind =
      new AtomicReferenceArray<>(RequestChannel.MAX_KIND + 1);

  private volatile boolean any;

  void put(int kind, RequestHandler handler) {
    RequestChannel.checkKind(kind);
    byKind.set(kind, handler);
    any = true;
  }

  /// Whether there is one.
  boolean any() {
    return any;
  }

  /// Null where nobody serves requests of this kind yet.
  @Nullable RequestHandler of(InboundRequest request) {
    return byKind.get(request.kind());
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
    for (int kind = 0; any && kind < byKind.length(); kind++) {
      RequestHandler handler = byKind.get(kind);
      if (handler != null) {
        guard.accept(() -> handler.onPeerGone(rank, cause));
      }
    }
  }
}
