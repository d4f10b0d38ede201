// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// An observer of the job that measures the collectives of each step. Any thread may call it.
///
/// In a step, `ready` is the time until its last gradient was submitted: from then on this rank
/// only updates weights. `exposed` is the time from there until the last collective completed:
/// communication that no computation hides. `inFlight` is the time during which at least one
/// collective was running, hidden or not.
final class StepMeter implements OperationObserver {

  private final Ticker ticker;
  private final Set<Long> running = new HashSet<>();
  private long begun;
  private long lastSubmitted;
  private long lastDone;
  private long inFlight;
  private long inFlightSince;

  StepMeter(Ticker ticker) {
    this.ticker = ticker;
  }

  /// One step, in nanoseconds.
  ///
  /// @param begunNanos the time at which the step began, by the rank's clock
  record MeteredStep(long begunNanos, long total, long ready, long exposed, long inFlight) {

    /// Returns the time at which its last gradient was submitted.
    long readyNanos() {
      return begunNanos + ready;
    }
  }

  synchronized void begin() {
    begun = ticker.nanos();
    lastSubmitted = begun;
    lastDone = begun;
    inFlight = 0;
  }

  /// Ends a step.
  ///
  /// @param submitted the time of the last submission to a layer, whose collectives begin when all
  ///   ranks have submitted; empty, or before the step, if gradients are collectives themselves
  synchronized MeteredStep end(OptionalLong submitted) {
    long layer = submitted.orElse(begun);
    long ready = layer > begun ? layer : lastSubmitted;
    long exposed = Math.max(0, lastDone - ready);
    long total = ticker.nanos() - begun;
    return new MeteredStep(begun, total, exposed == 0 ? total : ready - begun, exposed, inFlight);
  }

  @Override
  public synchronized void submitted(ObservedOperation operation) {
    if (operation.service() != ObservedOperation.Service.COLLECTIVE) {
      return;
    }
    lastSubmitted = Math.max(lastSubmitted, operation.submittedNanos());
    if (running.isEmpty()) {
      inFlightSince = operation.submittedNanos();
    }
    running.add(operation.id());
  }

  @Override
  public void withdrawn(ObservedOperation operation, CommException cause, long nanos) {
    ended(operation, cause, nanos);
  }

  @Override
  public synchronized void ended(
      ObservedOperation operation, @Nullable CommException cause, long nanos) {
    if (operation.service() != ObservedOperation.Service.COLLECTIVE) {
      return;
    }
    lastDone = Math.max(lastDone, nanos);
    if (running.remove(operation.id()) && running.isEmpty()) {
      inFlight += nanos - inFlightSince;
    }
  }

  /// Forgets the running collectives, because their communicator has ended.
  synchronized void forget() {
    running.clear();
  }
}
