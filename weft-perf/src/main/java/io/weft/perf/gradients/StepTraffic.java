// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import java.util.concurrent.atomic.LongAdder;

/// The mean traffic of a rank in a step.
///
/// @param bytes bytes that a rank sends, payload and protocol, and reads and writes in mapped
///   memory
/// @param collectives number of a communicator's collectives, with fusion those of buffers and of
///   negotiation
record StepTraffic(double bytes, double collectives) {

  /// The counter of all collectives except those of the measurement.
  static final class Counter implements OperationObserver {

    private final String left;
    private final LongAdder submitted = new LongAdder();

    /// @param left the prefix of names that do not count
    Counter(String left) {
      this.left = left;
    }

    @Override
    public boolean hearsStages() {
      return false;
    }

    @Override
    public void submitted(ObservedOperation operation) {
      if (operation.service() == ObservedOperation.Service.COLLECTIVE
          && !operation.name().startsWith(left)) {
        submitted.increment();
      }
    }

    long count() {
      return submitted.sum();
    }
  }
}
