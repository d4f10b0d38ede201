// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.served;

import io.weft.agent.Ticker;

/// The time during which at least one value is awaited. Any thread.
final class WaitMeter {

  private final Ticker ticker;
  private int waiting;
  private long begun;
  private long nanos;

  WaitMeter(Ticker ticker) {
    this.ticker = ticker;
  }

  synchronized void begin() {
    if (waiting++ == 0) {
      begun = ticker.nanos();
    }
  }

  synchronized void end() {
    if (--waiting == 0) {
      nanos += ticker.nanos() - begun;
    }
  }

  /// Returns the nanoseconds of all ended waits.
  synchronized long nanos() {
    return nanos;
  }
}
