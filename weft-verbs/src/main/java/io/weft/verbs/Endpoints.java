// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Endpoint;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// The endpoints of a transport that have not ended: by the TCP connection below, and by the number
/// that is in the names of their work requests.
final class Endpoints {

  private static final int MOST = 1 << 16;

  private final IdentityHashMap<Endpoint, VerbsEndpoint> byLower = new IdentityHashMap<>();
  private @Nullable VerbsEndpoint[] byNumber = new @Nullable VerbsEndpoint[16];
  private VerbsEndpoint[] all = {};

  /// Makes one over this connection, with a number that no other has. Throws
  /// `IllegalStateException` if there is none left.
  VerbsEndpoint enter(Endpoint lower, IntFunction<VerbsEndpoint> make) {
    int number = 0;
    while (number < byNumber.length && byNumber[number] != null) {
      number++;
    }
    if (number == MOST) {
      throw new IllegalStateException("more than " + MOST + " endpoints");
    }
    if (number == byNumber.length) {
      byNumber = Arrays.copyOf(byNumber, 2 * number);
    }
    VerbsEndpoint endpoint = make.apply(number);
    byNumber[number] = endpoint;
    byLower.put(lower, endpoint);
    all = Arrays.copyOf(all, all.length + 1);
    all[all.length - 1] = endpoint;
    return endpoint;
  }

  void remove(VerbsEndpoint endpoint) {
    byLower.remove(endpoint.lower());
    byNumber[endpoint.number()] = null;
    all =
        Arrays.stream(all)
            .filter(other -> other.number() != endpoint.number())
            .toArray(VerbsEndpoint[]::new);
  }

  /// All of them; replaced, not changed, when one begins or ends.
  VerbsEndpoint[] all() {
    return all;
  }

  boolean isEmpty() {
    return all.length == 0;
  }

  @Nullable VerbsEndpoint over(Endpoint lower) {
    return byLower.get(lower);
  }

  /// Which one a completion is about; null if that has ended.
  ///
  /// Hot path.
  @Nullable VerbsEndpoint of(long id, int queuePair) {
    int number = Link.numberOf(id);
    VerbsEndpoint endpoint = number < byNumber.length ? byNumber[number] : null;
    Link link = endpoint == null ? null : endpoint.link();
    return link != null && link.isPair(queuePair) ? endpoint : null;
  }
}
