// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.cluster.item.PeerQueue;

/// The totals of the rendezvous. Written by the progress thread, read by any thread.
final class RendezvousCounters implements PeerQueue.Departures {

  private volatile long messages;
  private volatile long requests;
  private volatile long received;

  @Override
  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  public void departed(boolean asks) {
    messages++;
    if (asks) {
      requests++;
    }
  }

  /// Hot path.
  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  void received() {
    received++;
  }

  long messages() {
    return messages;
  }

  long requests() {
    return requests;
  }

  long tensors() {
    return received;
  }
}
