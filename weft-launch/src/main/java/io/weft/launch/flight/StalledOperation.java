// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import io.weft.telemetry.flight.FlightLog;
import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.telemetry.flight.FlightLog.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// An operation in which a rank waited, on all members of its communicator.
///
/// @param operation the record of a rank that waited
/// @param waited ranks that waited in it, with their records
/// @param missing ranks with a log that neither waited in it nor completed it
/// @param finished ranks that had completed it
/// @param submittedNanos time of the first submission by a waiting rank
record StalledOperation(
    Flight operation,
    Map<Integer, Flight> waited,
    List<Integer> missing,
    List<Integer> finished,
    long submittedNanos) {

  /// The key that identifies one operation on all ranks.
  record OperationKey(long communicator, String name, int use) {
    static OperationKey of(Flight flight) {
      return new OperationKey(flight.communicator(), flight.name(), flight.use());
    }
  }

  static StalledOperation of(
      OperationKey key, List<Integer> members, Map<Integer, FlightLog> logs) {
    var waited = new TreeMap<Integer, Flight>();
    var missing = new ArrayList<Integer>();
    var finished = new ArrayList<Integer>();
    for (int rank : members) {
      FlightLog log = logs.get(rank);
      if (log == null) {
        continue;
      }
      Flight own = find(log, key);
      if (own != null && RankSummary.waited(own)) {
        waited.put(rank, own);
      } else if (passed(log, key)) {
        finished.add(rank);
      } else {
        missing.add(rank);
      }
    }
    long first =
        waited.values().stream().mapToLong(f -> f.times().submittedNanos()).min().orElse(0);
    return new StalledOperation(
        waited.values().iterator().next(), waited, missing, finished, first);
  }

  /// Returns true if a rank that waited knew that this one has not submitted the operation.
  boolean admitted(int rank) {
    return waited.values().stream().anyMatch(flight -> flight.unsubmitted().contains(rank));
  }

  private static @Nullable Flight find(FlightLog log, OperationKey key) {
    return log.operations().stream()
        .filter(flight -> OperationKey.of(flight).equals(key) && flight.state() != State.SUBMITTED)
        .findFirst()
        .orElse(null);
  }

  /// Returns true if the rank completed the operation. If the log no longer has the operation, a
  /// later use of its name proves this.
  private static boolean passed(FlightLog log, OperationKey key) {
    return log.operations().stream()
        .filter(f -> f.communicator() == key.communicator() && f.name().equals(key.name()))
        .anyMatch(f -> f.use() > key.use() || (f.use() == key.use() && f.state() == State.DONE));
  }
}
