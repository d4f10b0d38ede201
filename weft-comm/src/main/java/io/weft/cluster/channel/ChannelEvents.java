// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.observer.Observers;
import io.weft.observer.OperationObserver;
import io.weft.observer.OperationStage;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The notifications of the observer about this rank's requests. Without an observer a call costs
/// only a branch.
final class ChannelEvents {

  private final AtomicLong requests = new AtomicLong();
  private OperationObserver observer = new Observers();
  private Ticker clock = () -> 0;

  /// Sets the observer, before the first submission.
  void observedBy(OperationObserver all) {
    observer = all;
  }

  /// Sets the clock, before the first submission.
  void by(Ticker ticker) {
    clock = ticker;
  }

  /// Returns the number of a new request. Any thread.
  long next() {
    return requests.incrementAndGet();
  }

  /// Returns the time. Any thread.
  long nanos() {
    return clock.nanos();
  }

  /// Any thread.
  void submitted(OutboundRequest it) {
    observer.submitted(it);
  }

  void reached(OutboundRequest it, OperationStage stage) {
    if (stage == OperationStage.STARTED || observer.hearsStages()) {
      observer.reached(it, stage, 0, clock.nanos());
    }
  }

  void ended(OutboundRequest it, @Nullable CommException failure) {
    observer.ended(it, failure, clock.nanos());
  }
}
