// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Endpoint;
import io.weft.transport.table.EndpointArrays;
import io.weft.transport.table.LongMap;
import io.weft.verbs.device.AsyncEvent;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// The endpoints of a transport, indexed by their TCP connections, by the numbers of their queue
/// pairs, which completions name, and by the numbers under which memory records their access.
/// Polling thread only.
final class EndpointTable {

  private static final int MAX_ENDPOINTS = 1 << 16;

  private final IdentityHashMap<Endpoint, VerbsEndpoint> byLower = new IdentityHashMap<>();
  private @Nullable VerbsEndpoint[] byNumber = new @Nullable VerbsEndpoint[16];
  private final LongMap<VerbsEndpoint> byPair = new LongMap<>();
  private VerbsEndpoint[] all = {};

  /// Adds an endpoint with an unused number.
  VerbsEndpoint enter(Endpoint lower, IntFunction<VerbsEndpoint> maker) {
    int number = 0;
    while (number < byNumber.length && byNumber[number] != null) {
      number++;
    }
    if (number == MAX_ENDPOINTS) {
      throw new IllegalStateException("more than " + MAX_ENDPOINTS + " endpoints");
    }
    if (number == byNumber.length) {
      byNumber = Arrays.copyOf(byNumber, 2 * number);
    }
    VerbsEndpoint endpoint = maker.apply(number);
    byNumber[number] = endpoint;
    byLower.put(lower, endpoint);
    all = EndpointArrays.with(all, endpoint);
    return endpoint;
  }

  /// Records the queue pair of an endpoint. Throws `IllegalArgumentException` if it is present.
  void bind(QueuePairLink link, VerbsEndpoint endpoint) {
    if (byPair.get(link.pairNumber()) != null) {
      throw new IllegalArgumentException("queue pair " + link.pairNumber() + " is present");
    }
    byPair.put(link.pairNumber(), endpoint);
  }

  void leave(VerbsEndpoint endpoint) {
    QueuePairLink link = endpoint.link();
    if (link != null) {
      var unused = byPair.remove(link.pairNumber());
    }
    byLower.remove(endpoint.lower());
    byNumber[endpoint.number()] = null;
    all = EndpointArrays.without(all, endpoint);
  }

  /// Fails the queue pair that an event concerns, or all.
  ///
  /// @param fatal the reason why all fail; empty if they do not
  void hear(AsyncEvent event, String fatal) {
    for (VerbsEndpoint endpoint : all) {
      QueuePairLink link = endpoint.link();
      if (link != null && !fatal.isEmpty()) {
        link.fail(fatal);
      } else if (link != null && link.isMeantBy(event)) {
        link.fail("the device says: " + event.words());
      }
    }
  }

  /// Returns the current endpoints; a change replaces the array.
  VerbsEndpoint[] all() {
    return all;
  }

  @Nullable VerbsEndpoint above(Endpoint lower) {
    return byLower.get(lower);
  }

  /// Returns the endpoint with this number, or null.
  ///
  /// Hot path.
  @Nullable VerbsEndpoint at(int number) {
    return number < byNumber.length ? byNumber[number] : null;
  }

  /// Returns the endpoint of the queue pair that a completion names; null if it has ended.
  ///
  /// Hot path.
  @Nullable VerbsEndpoint of(int queuePair) {
    return byPair.get(queuePair);
  }
}
