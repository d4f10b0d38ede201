// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.rendezvous.Rendezvous;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/// One worker in one case, from its first step to the end of the window. It runs in callbacks on
/// the progress thread and on the timer's thread, in turn.
final class TrafficWorker {

  private final StepTransfers exchange;
  private final Duration compute;
  private final ScheduledExecutorService timer;
  private final MeasuringWindow window;
  private final CaseEnd end;
  private long number;
  private long begun;

  /// @param first number of the worker's first step
  /// @param cell the state that it shares with other workers
  TrafficWorker(TrafficPlan plan, Rendezvous rendezvous, int worker, long first, TrafficCell cell) {
    this.exchange =
        StepTransfers.of(plan, TrafficPlan.CLIENT, rendezvous, worker, cell.end()::wrong);
    this.compute = plan.compute();
    this.timer = cell.timer();
    this.window = cell.window();
    this.end = cell.end();
    this.number = first;
  }

  void start() {
    begun = System.nanoTime();
    exchange.receive(
        number,
        last -> {
          if (!end.isWrong()) {
            arrived();
          }
        });
  }

  private void arrived() {
    if (compute.isZero()) {
      send();
    } else {
      var unused = timer.schedule(this::send, ClampedDuration.nanos(compute), TimeUnit.NANOSECONDS);
    }
  }

  private void send() {
    long now = System.nanoTime();
    long at = number++;
    boolean last = window.isOver(now) || end.isWrong();
    window.record(begun, now);
    exchange.send(
        at,
        last,
        () -> {
          exchange.end(at);
          if (last) {
            end.ended();
          }
        });
    if (!last) {
      start();
    }
  }
}
