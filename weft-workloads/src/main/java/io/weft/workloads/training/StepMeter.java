// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.CommException;
import io.weft.agent.Ticker;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Watches the collectives of each step. All methods from any thread.
///
/// Of a step, `ready` is the time until its last collective was submitted: from then on this rank
/// has nothing to compute but updates of weights. `exposed` is the time from there until the last
/// collective was done: communication that no computation hides. `inFlight` is the time during
/// which at least one collective was running, hidden or not.
final class StepMeter {

  private final Ticker ticker;
  private final Set<String> running = new HashSet<>();
  private long begun;
  private long lastSubmitted;
  private long lastDone;
  private long inFlight;
  private long inFlightSince;
  private @Nullable CommException failure;

  StepMeter(Ticker ticker) {
    this.ticker = ticker;
  }

  /// One step, in nanoseconds.
  record Step(long total, long ready, long exposed, long inFlight) {}

  synchronized void begin() {
    begun = ticker.nanos();
    lastSubmitted = begun;
    lastDone = begun;
    inFlight = 0;
  }

  synchronized Step end() {
    long exposed = Math.max(0, lastDone - lastSubmitted);
    long total = ticker.nanos() - begun;
    return new Step(total, exposed == 0 ? total : lastSubmitted - begun, exposed, inFlight);
  }

  synchronized void submitted(String name) {
    lastSubmitted = ticker.nanos();
    if (running.isEmpty()) {
      inFlightSince = lastSubmitted;
    }
    running.add(name);
  }

  synchronized void done(String name, @Nullable CommException cause) {
    lastDone = ticker.nanos();
    if (cause != null && failure == null) {
      failure = cause;
    }
    if (running.remove(name) && running.isEmpty()) {
      inFlight += lastDone - inFlightSince;
    }
  }

  /// A new communicator begins with no failure.
  synchronized void forget() {
    running.clear();
    failure = null;
  }

  /// Of the first collective that failed.
  synchronized Optional<CommException> failure() {
    return Optional.ofNullable(failure);
  }
}
