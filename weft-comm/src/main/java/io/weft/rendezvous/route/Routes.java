// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.route;

import io.weft.rendezvous.Edge;
import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/// The edges that this rank knows. Any thread.
public final class Routes {

  private final ConcurrentHashMap<Edge, Route> byEdge = new ConcurrentHashMap<>();
  private final AtomicInteger count = new AtomicInteger();

  /// Returns the route of an edge, creating it if necessary.
  ///
  /// Hot path, for a known edge.
  public Route of(Edge edge) {
    Route known = byEdge.get(edge);
    return known != null
        ? known
        : byEdge.computeIfAbsent(edge, it -> new Route(it, count.getAndIncrement()));
  }

  public Collection<Route> all() {
    return byEdge.values();
  }
}
