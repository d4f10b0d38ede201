// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import java.util.List;
import java.util.Locale;

/// The table of figures, with one line for each number of workers and each contestant.
record TrafficTable(List<TrafficFigure> figures) {

  TrafficTable {
    figures = List.copyOf(figures);
  }

  /// Returns the lines of the table after a header, or nothing without figures.
  String text() {
    StringBuilder text = new StringBuilder();
    if (figures.isEmpty()) {
      return "";
    }
    TrafficFigure first = figures.getFirst();
    text.append(
        String.format(
            Locale.ROOT,
            "%s, %d servers, %d x %d B each way a step, %s us of computation; %s%n",
            first.benchmark(),
            first.servers(),
            first.tensors(),
            first.bytes(),
            first.computeMicros(),
            first.host() == null ? "" : first.host().words()));
    text.append(
        String.format(
            "%8s  %-36s %10s %10s %10s %10s %12s%n",
            "workers", "", "steps/s", "of Weft", "p50 ms", "p99 ms", "requests"));
    for (int workers : figures.stream().map(TrafficFigure::workers).distinct().toList()) {
      List<TrafficFigure> beside =
          figures.stream().filter(figure -> figure.workers() == workers).toList();
      beside.forEach(figure -> text.append(line(figure, beside.getFirst())));
    }
    return text.toString();
  }

  private static String line(TrafficFigure figure, TrafficFigure weft) {
    return String.format(
        Locale.ROOT,
        "%8d  %-36s %10.1f %10.3f %10.3f %10.3f %12.1f%s%n",
        figure.workers(),
        figure.peer() + " over " + figure.transport(),
        figure.stepsPerSecond(),
        figure.stepsPerSecond() / weft.stepsPerSecond(),
        figure.p50Millis(),
        figure.p99Millis(),
        figure.requestsPerStep(),
        Boolean.FALSE.equals(figure.checked()) ? "  WRONG RESULT" : "");
  }
}
