// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.report.Figure;
import io.weft.workloads.report.MeasuredHost;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/// The table of figures. A ratio above 1 means that Weft is faster. The ratio `p50` is Weft / peer
/// for bandwidth (or messages per second) and equally peer / Weft for latency, where each is the
/// median over its own rounds. `pairs` is the median of the ratios of each round, which is robust
/// if the machine is slow in some rounds. `best` is the ratio of the fastest calls.
record RatioTable(List<Figure> measurements) {

  private static final int SIZE_WIDTH = 13;

  /// The ratio of handovers above which the host has probably moved the processors.
  private static final int FAR = 2;

  RatioTable {
    measurements = List.copyOf(measurements);
  }

  /// Returns the lines of the table after a header.
  String text() {
    List<String> peers =
        measurements.stream()
            .map(each -> each.text("peer"))
            .distinct()
            .filter(p -> !p.equals(PerfFigures.WEFT))
            .toList();
    StringBuilder text = new StringBuilder(head());
    String rate = measurements.getFirst().has("messagesPerSecond") ? "M msg/s" : "bus GB/s";
    String blank = " ".repeat(SIZE_WIDTH);
    text.append(blank).append("  ").append(centred(PerfFigures.WEFT, 21));
    peers.forEach(p -> text.append("  ").append(centred(p, 21)));
    peers.forEach(p -> text.append("  ").append(centred(PerfFigures.WEFT + " / " + p, 23)));
    text.append("%n%13s  %10s %10s".formatted("size", "p50 us", rate));
    peers.forEach(p -> text.append("  %10s %10s".formatted("p50 us", rate)));
    peers.forEach(p -> text.append("  %7s %7s %7s".formatted("p50", "pairs", "best")));
    for (Figure weft : of(PerfFigures.WEFT)) {
      text.append(System.lineSeparator()).append(row(weft, peers));
    }
    peers.forEach(p -> text.append(aboveEmpty(p)));
    measurements.forEach(m -> text.append(registered(m)));
    text.append(moved());
    text.append(leftOut());
    return text.append(System.lineSeparator()).toString();
  }

  /// Returns a warning if the handovers before the rounds differ much, because the host has moved
  /// the processors, or other programs used them.
  private String moved() {
    IntSummaryStatistics nanos =
        measurements.stream()
            .flatMap(each -> each.numbers("roundHandoverNanos").stream())
            .mapToInt(Double::intValue)
            .summaryStatistics();
    return nanos.getCount() == 0 || nanos.getMax() <= FAR * nanos.getMin()
        ? ""
        : ("%nthe handover of a cache line between processors and back took %d to %d ns before the"
               + " rounds: the host moves the processors, or other programs use them; compare best")
            .formatted(nanos.getMin(), nanos.getMax());
  }

  /// Returns the number of rounds that were discarded because the host has moved the processors.
  private String leftOut() {
    Figure first = measurements.getFirst();
    return first.has("roundsMoved")
        ? "%nrounds discarded because of a longer handover before or after: %s"
            .formatted(first.text("roundsMoved"))
        : "";
  }

  /// Returns the registrations with a device, if known.
  private static String registered(Figure m) {
    if (!m.has("registered")) {
      return "";
    }
    Figure told = m.part("registered");
    long bytes = (long) told.number("bytes");
    return String.format(
        Locale.ROOT,
        "%n%s, %s transfers of %s: registered %s times, %s, in %.1f us",
        m.text("peer"),
        m.text("iterations"),
        PerfFigures.size(m),
        told.text("calls"),
        bytes == 0 ? "0 B" : ByteSizes.format(bytes),
        told.number("micros"));
  }

  /// Returns the difference between a step with the smallest tensor and an empty step.
  private String aboveEmpty(String peer) {
    List<Figure> ours = of(PerfFigures.WEFT);
    if (!PerfFigures.size(ours.getFirst()).equals("empty step") || ours.size() < 2) {
      return "";
    }
    double weft = ours.get(1).number("p50Micros") - ours.get(0).number("p50Micros");
    double its =
        at(peer, ours.get(1)).number("p50Micros") - at(peer, ours.get(0)).number("p50Micros");
    return String.format(
        Locale.ROOT,
        "%n%s above the empty step: %.1f us, %s %.1f us, ratio %.2f",
        PerfFigures.size(ours.get(1)),
        weft,
        peer,
        its,
        its / weft);
  }

  private String head() {
    Figure first = measurements.getFirst();
    String how =
        first.has("outstanding") ? ", %s outstanding".formatted(first.text("outstanding")) : "";
    if (Benchmark.of(first.text("benchmark")).isCollective()) {
      how = ", " + first.text("memory") + " tensors";
    } else if (first.has("registered")) {
      how = ", " + first.text("memory") + " memory";
    }
    MeasuredHost host = (MeasuredHost) first.value("host");
    return "%s, %s ranks, %s%s, %s; %s, %d cores, load %.2f%n"
        .formatted(
            first.text("benchmark"),
            first.text("ranks"),
            first.text("transport"),
            how,
            first.number("rounds") == 1 ? "1 round" : first.text("rounds") + " rounds",
            host.cpu(),
            host.cores(),
            host.loadAverage());
  }

  private String row(Figure weft, List<String> peers) {
    StringBuilder row = new StringBuilder("%13s".formatted(PerfFigures.size(weft)));
    row.append(figures(weft));
    List<Figure> beside = peers.stream().map(p -> at(p, weft)).toList();
    beside.forEach(m -> row.append(figures(m)));
    beside.forEach(
        m ->
            row.append(
                "  %s %s %s"
                    .formatted(
                        ratio(p50Ratio(weft, m)),
                        ratio(pairsRatio(weft, m)),
                        ratio(bestRatio(weft, m)))));
    if (weft.isWrong() || beside.stream().anyMatch(Figure::isWrong)) {
      row.append("  WRONG RESULT");
    }
    return row.toString();
  }

  /// Formats a ratio with two decimals, or four for a small one.
  private static String ratio(double value) {
    return String.format(Locale.ROOT, value < 0.1 ? "%7.4f" : "%7.2f", value);
  }

  /// Returns Weft / peer of bandwidth.
  static double p50Ratio(Figure weft, Figure peer) {
    return peer.number("p50Micros") / weft.number("p50Micros");
  }

  static double bestRatio(Figure weft, Figure peer) {
    return peer.number("minMicros") / weft.number("minMicros");
  }

  /// Returns the median of the ratios of each round.
  static double pairsRatio(Figure weft, Figure peer) {
    List<Double> ours = weft.numbers("roundP50Micros");
    List<Double> its = peer.numbers("roundP50Micros");
    return Figure.median(
        IntStream.range(0, ours.size()).mapToObj(r -> its.get(r) / ours.get(r)).toList());
  }

  private static String figures(Figure m) {
    double rate =
        m.has("messagesPerSecond")
            ? m.number("messagesPerSecond") / 1e6
            : m.number("busGigabytesPerSecond");
    String time = m.number("p50Micros") < 10 ? "  %10.3f" : "  %10.1f";
    return String.format(Locale.ROOT, time + " %10.3f", m.number("p50Micros"), rate);
  }

  private List<Figure> of(String peer) {
    return measurements.stream().filter(m -> m.text("peer").equals(peer)).toList();
  }

  private Figure at(String peer, Figure beside) {
    return of(peer).stream()
        .filter(m -> PerfFigures.size(m).equals(PerfFigures.size(beside)))
        .findFirst()
        .orElseThrow();
  }

  private static String centred(String title, int width) {
    int left = Math.max(0, (width - title.length()) / 2);
    return ("%-" + width + "s").formatted(" ".repeat(left) + title);
  }
}
