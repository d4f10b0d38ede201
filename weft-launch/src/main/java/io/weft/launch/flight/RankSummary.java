// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import io.weft.telemetry.flight.FlightLog;
import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.telemetry.flight.FlightLog.State;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The summary of one rank's log.
///
/// @param log the rank's log
/// @param communicators keys of the failed communicators
record RankSummary(FlightLog log, Set<Long> communicators) {

  /// Returns the time of the rank's first failure, or of the log's writing without one. Times
  /// "before" are relative to it.
  long failedNanos() {
    return log.failures().stream()
        .filter(failure -> communicators.contains(failure.communicator()))
        .mapToLong(FlightLog.Failure::nanos)
        .min()
        .orElse(log.counts().writtenNanos());
  }

  /// Returns the operations of these communicators that had begun and did not complete, by
  /// submission time.
  List<Flight> waiting() {
    return log.operations().stream()
        .filter(flight -> communicators.contains(flight.communicator()))
        .filter(RankSummary::waited)
        .sorted(Comparator.comparingLong(flight -> flight.times().submittedNanos()))
        .toList();
  }

  static boolean waited(Flight flight) {
    return flight.state() == State.RUNNING
        || (flight.state() == State.FAILED && flight.stage() > 0);
  }

  /// Returns the operation that completed last.
  Optional<Flight> last() {
    return log.operations().stream()
        .filter(flight -> flight.state() == State.DONE)
        .max(Comparator.comparingLong(flight -> flight.times().endedNanos()));
  }

  /// Returns the rank's last activity: "it waited in …" or "its last was …, done 4.1 s before".
  String doing() {
    List<Flight> waiting = waiting();
    if (!waiting.isEmpty()) {
      Flight first = waiting.getFirst();
      String awaited =
          first.awaited().isEmpty() ? "" : " for " + FlightWords.ranks(first.awaited());
      String others = waiting.size() == 1 ? "" : " and in " + (waiting.size() - 1) + " others";
      return "it waited in " + FlightWords.use(first) + awaited + others;
    }
    return last()
        .map(
            flight ->
                "its last was "
                    + FlightWords.use(flight)
                    + ", done "
                    + FlightWords.seconds(failedNanos() - flight.times().endedNanos())
                    + " before")
        .orElse("it had finished no operation");
  }

  /// Returns how long the progress thread had stood still when the log was written.
  long stillNanos() {
    return log.counts().writtenNanos() - log.counts().turnedNanos();
  }

  /// Returns the operations that the user had submitted and the progress thread had not taken.
  List<Flight> queued() {
    return log.operations().stream().filter(f -> f.state() == State.SUBMITTED).toList();
  }
}
