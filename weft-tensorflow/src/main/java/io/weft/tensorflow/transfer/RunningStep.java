// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import java.util.concurrent.atomic.AtomicInteger;

/// The step of a part that runs: its receives and sends, how many receives wait, and whether
/// TensorFlow has let it go. Any thread.
final class RunningStep {

  private final long number;
  private final StepReceives receives;
  private final StepSends sends;
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile boolean letGo;

  /// @param number that all tasks share
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

  /// A receive begins to wait; false if TensorFlow has let the step go, so that it waits in vain.
  ///
  /// Hot path.
  boolean beginWait() {
    waiting.incrementAndGet(); // before the look below, as `letGo` looks after it has said so
    return !letGo;
  }

  /// A receive does not wait any more.
  ///
  /// Hot path.
  void endWait() {
    waiting.decrementAndGet();
  }

  /// TensorFlow has ended the step's run, or given it up; whether receives wait in vain.
  boolean letGo() {
    letGo = true;
    return waiting.get() > 0;
  }
}
