// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.rendezvous.route.Route;
import org.jspecify.annotations.Nullable;

/// The sides that wait at their source for the other side, by edge, step, frame and iteration. The
/// table chains the entries themselves, so that adding one allocates nothing. Confined to the
/// progress thread.
final class PendingTable {

  private @Nullable PendingSide[] buckets = new PendingSide[256];
  private int size;

  int size() {
    return size;
  }

  /// Returns the side that waits under this key, or null.
  ///
  /// Hot path.
  @Nullable PendingSide get(Route route, OpenStep step, long frame, long iteration) {
    PendingSide at = buckets[bucket(route, step, frame, iteration)];
    while (at != null && !at.isSame(route, step, frame, iteration)) {
      at = at.chain;
    }
    return at;
  }

  /// Adds a side that is in its step already and whose key is not in the table.
  ///
  /// Hot path.
  void put(PendingSide pending, OpenStep step) {
    if (size == buckets.length) {
      grow();
    }
    int bucket = bucket(pending.route, step, pending.frame, pending.iteration);
    pending.chain = buckets[bucket];
    buckets[bucket] = pending;
    size++;
  }

  /// Removes the side if it is in the table. It must still be in its step.
  ///
  /// Hot path.
  void remove(PendingSide pending, OpenStep step) {
    int bucket = bucket(pending.route, step, pending.frame, pending.iteration);
    PendingSide before = null;
    for (PendingSide at = buckets[bucket]; at != null; before = at, at = at.chain) {
      if (at == pending) {
        if (before == null) {
          buckets[bucket] = at.chain;
        } else {
          before.chain = at.chain;
        }
        at.chain = null;
        size--;
        return;
      }
    }
  }

  private int bucket(Route route, OpenStep step, long frame, long iteration) {
    long hash = step.number() * 0x9E3779B97F4A7C15L + route.number();
    hash = (hash ^ hash >>> 29) * 0xBF58476D1CE4E5B9L + frame;
    hash = (hash ^ hash >>> 32) * 0x94D049BB133111EBL + iteration;
    return (int) (hash ^ hash >>> 31) & (buckets.length - 1);
  }

  private void grow() {
    @Nullable PendingSide[] old = buckets;
    buckets = new PendingSide[old.length * 2];
    size = 0;
    for (PendingSide chain : old) {
      while (chain != null) {
        PendingSide next = chain.chain;
        OpenStep step = chain.step;
        if (step != null) {
          put(chain, step);
        }
        chain = next;
      }
    }
  }
}
