// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import java.util.concurrent.atomic.AtomicInteger;

/// The running step of a part: its receives and sends, the number of waiting receives, and its
/// release by TensorFlow. Any thread.
final class RunningStep {

  private final long number;
  private final StepReceives receives;
  private final StepSends sends;
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile boolean letGo;

  /// @param number the step's number, equal on all tasks
  RunningStep(long number, StepReceives receives, StepSends sends) {
    this.number = number;
    this.receives = receives;
    this.sends = sends;
  }

  long number() {
    return number;
  }

  StepReceives receives() {
    return receives;
  }

  StepSends sends() {
    return sends;
  }

  /// Registers a waiting receive. Returns false if TensorFlow has released the step, so that the
  /// receive would wait in vain.
  ///
  /// Hot path.
  boolean beginWait() {
    waiting.incrementAndGet(); // before the read below; `letGo` writes, then reads
    return !letGo;
  }

  /// Registers that a receive no longer waits.
  ///
  /// Hot path.
  void endWait() {
    waiting.decrementAndGet();
  }

  /// Registers that TensorFlow has released the step. Returns whether receives wait in vain.
  boolean letGo() {
    letGo = true;
    return waiting.get() > 0;
  }
}
