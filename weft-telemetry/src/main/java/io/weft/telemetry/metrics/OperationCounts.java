// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// The counts of a rank's operations. Thread-safe.
final class OperationCounts implements OperationObserver {

  private final LongAdder done = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder nanos = new LongAdder();

  OperationCounts() {}

  @Override
  public boolean hearsStages() {
    return false;
  }

  /// Hot path.
  @Override
  public void ended(ObservedOperation operation, @Nullable CommException failure, long at) {
    (failure == null ? done : failed).increment();
    bytes.add(operation.bytes());
    if (operation.submittedNanos() != 0) {
      nanos.add(at - operation.submittedNanos());
    }
  }

  long done() {
    return done.sum();
  }

  long failed() {
    return failed.sum();
  }

  long bytes() {
    return bytes.sum();
  }

  double seconds() {
    return nanos.sum() / 1e9;
  }
}
