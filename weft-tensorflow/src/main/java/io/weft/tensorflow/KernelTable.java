// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.Communicator;
import org.jspecify.annotations.Nullable;

/// The kernels that TensorFlow holds, by the number it holds instead of a pointer: position + 1, so
/// never 0. A number is reused once its kernel was deleted. Thread-safe; `kernel` takes no lock.
final class KernelTable {

  /// Written under the lock and then assigned to itself, which publishes the elements to readers.
  private volatile @Nullable CollectiveKernel[] slots = new CollectiveKernel[64];

  private int live;
  private long everAdded;

  /// The kernel's number.
  synchronized long add(CollectiveKernel kernel) {
    @Nullable CollectiveKernel[] current = slots;
    int free = 0;
    while (free < current.length && current[free] != null) {
      free++;
    }
    if (free == current.length) {
      current = java.util.Arrays.copyOf(current, 2 * free);
    }
    current[free] = kernel;
    slots = current;
    live++;
    everAdded++;
    return free + 1L;
  }

  /// Hot path.
  CollectiveKernel kernel(long number) {
    CollectiveKernel kernel = slots[(int) number - 1];
    if (kernel == null) {
      throw new IllegalStateException("kernel " + number + " was deleted");
    }
    return kernel;
  }

  /// Forgets the kernel; it was deleted by TensorFlow.
  synchronized CollectiveKernel remove(long number) {
    CollectiveKernel kernel = kernel(number);
    slots[(int) number - 1] = null;
    live--;
    return kernel;
  }

  /// The kernels that run on `from` run on `to` from their next run on.
  synchronized void rebind(Communicator from, Communicator to) {
    for (CollectiveKernel kernel : slots) {
      if (kernel != null) {
        kernel.rebind(from, to);
      }
    }
  }

  /// Kernels made and not yet deleted.
  synchronized int live() {
    return live;
  }

  /// Kernels ever made.
  synchronized long everAdded() {
    return everAdded;
  }
}
