// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.Observers;
import io.weft.observer.OperationObserver;
import io.weft.observer.OperationStage;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The notifications of the rank's observers about its requests on the channel and about operations
/// of the services over it. Any thread, once the channel runs.
public final class ChannelEvents {

  private final AtomicLong requests = new AtomicLong();
  private OperationObserver observer = new Observers();
  private Ticker clock = () -> 0;

  ChannelEvents() {}

  /// Sets the observer, before the first submission.
  void observedBy(OperationObserver all) {
    observer = all;
  }

  /// Sets the clock, before the first submission.
  void by(Ticker ticker) {
    clock = ticker;
  }

  /// Returns the number of a new request or operation. Any thread.
  public long next() {
    return requests.incrementAndGet();
  }

  /// Returns the time. Any thread.
  public long nanos() {
    return clock.nanos();
  }

  /// Reports a submission. Any thread.
  public void submitted(ObservedOperation it) {
    observer.submitted(it);
  }

  /// Reports that an operation has reached a stage.
  public void reached(ObservedOperation it, OperationStage stage) {
    if (stage == OperationStage.STARTED || observer.hearsStages()) {
      observer.reached(it, stage, 0, clock.nanos());
    }
  }

  /// Reports the end of an operation.
  ///
  /// @param failure null if it has succeeded
  public void ended(ObservedOperation it, @Nullable CommException failure) {
    observer.ended(it, failure, clock.nanos());
  }
}
