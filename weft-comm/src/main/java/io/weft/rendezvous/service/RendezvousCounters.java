// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

/// Counts of what was done. Written by the progress thread, read by any.
final class RendezvousCounters {

  private volatile long messages;
  private volatile long requests;
  private volatile long received;

  /// Hot path.
  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  void sent(boolean message, boolean asks) {
    if (message) {
      messages++;
    }
    if (message && asks) {
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
