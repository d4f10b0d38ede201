// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.text.Printable;
import java.util.Collection;
import java.util.Iterator;
import java.util.Locale;
import java.util.TreeSet;

/// The words for ranks, operations and times.
final class FlightWords {

  private static final int MOST = 300;

  private FlightWords() {}

  /// Returns ranks in ascending order: `rank 3`, `ranks 0-2,7`.
  static String ranks(Collection<Integer> ranks) {
    var text = new StringBuilder();
    Iterator<Integer> ascending = new TreeSet<>(ranks).iterator();
    int first = -1;
    int last = -1;
    while (ascending.hasNext()) {
      int rank = ascending.next();
      if (last >= 0 && rank == last + 1) {
        last = rank;
      } else {
        range(first, last, text);
        first = rank;
        last = rank;
      }
    }
    range(first, last, text);
    return (ranks.size() == 1 ? "rank " : "ranks ") + text;
  }

  private static void range(int first, int last, StringBuilder into) {
    if (first >= 0) {
      into.append(into.isEmpty() ? "" : ",").append(first);
      into.append(last > first ? "-" + last : "");
    }
  }

  /// Returns the operation: `allreduce 'dense/kernel'`.
  static String operation(Flight flight) {
    return printable(flight.words().split(" ", 2)[0] + " '" + flight.name() + "'");
  }

  /// Returns the operation and its use: `allreduce 'dense/kernel' (use 312)`.
  static String use(Flight flight) {
    return operation(flight) + (flight.use() == 0 ? "" : " (use " + flight.use() + ")");
  }

  /// Returns a time: `4.1 s`.
  static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.1f s", Math.max(0, nanos) / 1e9);
  }

  /// Returns the text on one line, without control characters and with a bounded length.
  static String printable(String text) {
    return Printable.of(text, MOST);
  }
}
