// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Endpoint;
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
  private final QueuePairTable<VerbsEndpoint> byPair = new QueuePairTable<>();
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
    all = Arrays.copyOf(all, all.length + 1);
    all[all.length - 1] = endpoint;
    return endpoint;
  }

  /// Records the queue pair of an endpoint.
  void bind(QueuePairLink link, VerbsEndpoint endpoint) {
    byPair.add(link.pairNumber(), endpoint);
  }

  void leave(VerbsEndpoint endpoint) {
    QueuePairLink link = endpoint.link();
    if (link != null) {
      byPair.remove(link.pairNumber());
    }
    byLower.remove(endpoint.lower());
    byNumber[endpoint.number()] = null;
    all =
        Arrays.stream(all)
            .filter(other -> other.number() != endpoint.number())
            .toArray(VerbsEndpoint[]::new);
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
    return byPair.find(queuePair);
  }
}
