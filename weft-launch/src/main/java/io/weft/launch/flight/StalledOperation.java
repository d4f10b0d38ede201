// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import io.weft.flight.FlightLog;
import io.weft.flight.FlightLog.Flight;
import io.weft.flight.FlightLog.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// One operation in which some rank waited, on all members of its communicator.
///
/// @param operation as one of those that waited has it
/// @param waited ranks that waited in it, with their record of it
/// @param missing ranks whose log has it neither under way nor done
/// @param finished ranks that had done their part of it
/// @param submittedNanos when the first of them submitted it
record StalledOperation(
    Flight operation,
    Map<Integer, Flight> waited,
    List<Integer> missing,
    List<Integer> finished,
    long submittedNanos) {

  /// Which operations of all ranks belong together.
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

  /// Whether a rank that waited had been told that this one has not submitted it.
  boolean admitted(int rank) {
    return waited.values().stream().anyMatch(flight -> flight.unsubmitted().contains(rank));
  }

  private static @Nullable Flight find(FlightLog log, OperationKey key) {
    return log.operations().stream()
        .filter(flight -> OperationKey.of(flight).equals(key) && flight.state() != State.SUBMITTED)
        .findFirst()
        .orElse(null);
  }

  /// Whether the rank has done it, or, where its log does not reach back so far, a later use of the
  /// name.
  private static boolean passed(FlightLog log, OperationKey key) {
    return log.operations().stream()
        .filter(f -> f.communicator() == key.communicator() && f.name().equals(key.name()))
        .anyMatch(f -> f.use() > key.use() || (f.use() == key.use() && f.state() == State.DONE));
  }
}
