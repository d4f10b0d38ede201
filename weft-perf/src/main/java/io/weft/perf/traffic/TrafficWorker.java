// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import java.time.Duration;

/// One worker in one case, from its first step to the end of the measuring time. In each step it
/// fetches all tensors, pauses for its computation, and brings all gradients. It runs in callbacks
/// of its connection and on the timer's thread, in turn.
final class TrafficWorker {
  private final StepLink link;
  private final Duration compute;
  private final TrafficCase one;
  private long number;
  private long begun;

  /// The transfers of one worker.
  interface StepLink {
    /// Requests all tensors of a step. `arrived` runs after the last has arrived.
    void fetch(long step, Runnable arrived);

    /// Sends all gradients of a step. `taken` runs after the servers have received them.
    ///
    /// @param last true if no step follows
    void bring(long step, boolean last, Runnable taken);
  }

  /// @param first number of the worker's first step
  /// @param one the case, which all its workers share
  TrafficWorker(StepLink link, Duration compute, long first, TrafficCase one) {
    this.link = link;
    this.compute = compute;
    this.number = first;
    this.one = one;
  }

  void start() {
    begun = System.nanoTime();
    link.fetch(
        number,
        () -> {
          if (compute.isZero()) {
            send();
          } else if (!one.isWrong()) {
            one.after(compute, this::send);
          }
        });
  }

  private void send() {
    long now = System.nanoTime();
    long at = number++;
    boolean last = one.isOver(now);
    one.record(begun, now);
    link.bring(
        at,
        last,
        () -> {
          if (last) {
            one.ended();
          }
        });
    if (!last) {
      start();
    }
  }
}
