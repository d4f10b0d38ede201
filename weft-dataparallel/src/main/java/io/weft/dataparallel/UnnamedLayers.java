// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Communicator;
import java.util.HashMap;
import java.util.Map;

/// The open layers without a name of one process, by communicator. Ranks match these by the order
/// in which they are opened, which can be equal on all ranks only if one thread opens them.
/// Thread-safe.
final class UnnamedLayers implements AutoCloseable {

  private final Map<Communicator, Map<DataParallel, Long>> threads = new HashMap<>();

  /// Registers that this thread opens the layer over the communicator. Throws
  /// `IllegalStateException` if another thread has opened one that is still open.
  synchronized void open(DataParallel layer, Communicator communicator) {
    Map<DataParallel, Long> open = threads.computeIfAbsent(communicator, c -> new HashMap<>());
    long self = Thread.currentThread().threadId();
    if (open.values().stream().anyMatch(thread -> thread != self)) {
      throw new IllegalStateException(
          "two threads of rank "
              + communicator.members().ranks().get(communicator.rank())
              + " use a DataParallel without a name over one communicator: other ranks cannot tell"
              + " which is which, and would combine tensors of different models; give each one a"
              + " name by DataParallelOptions.named, the same on all ranks");
    }
    open.put(layer, self);
  }

  /// Removes the layer over this communicator.
  synchronized void close(DataParallel layer, Communicator communicator) {
    Map<DataParallel, Long> open = threads.get(communicator);
    if (open != null) {
      open.remove(layer);
      if (open.isEmpty()) {
        threads.remove(communicator);
      }
    }
  }

  @Override
  public void close() {}
}
