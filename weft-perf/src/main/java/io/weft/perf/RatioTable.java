// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import java.util.Collection;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.IntStream;

/// The table of figures. A ratio above 1 means that Weft is faster. The ratio `p50` is Weft / peer
/// for bandwidth (or messages per second) and equally peer / Weft for latency, where each is the
/// median over its own rounds. `pairs` is the median of the ratios of each round, which is robust
/// if the machine is slow in some rounds. `best` is the ratio of the fastest calls.
record RatioTable(List<Measurement> measurements) {

  private static final int SIZE_WIDTH = 13;

  /// The ratio of handovers above which the host must have moved the processors.
  private static final int FAR = 2;

  RatioTable {
    measurements = List.copyOf(measurements);
  }

  /// Returns the lines of the table after a header.
  String text() {
    List<String> peers =
        measurements.stream()
            .map(Measurement::peer)
            .distinct()
            .filter(p -> !p.equals(Measurement.WEFT))
            .toList();
    StringBuilder text = new StringBuilder(head());
    String rate = measurements.getFirst().messagesPerSecond() == null ? "bus GB/s" : "M msg/s";
    String blank = " ".repeat(SIZE_WIDTH);
    text.append(blank).append("  ").append(centred(Measurement.WEFT, 21));
    peers.forEach(p -> text.append("  ").append(centred(p, 21)));
    peers.forEach(p -> text.append("  ").append(centred(Measurement.WEFT + " / " + p, 23)));
    text.append("%n%13s  %10s %10s".formatted("size", "p50 us", rate));
    peers.forEach(p -> text.append("  %10s %10s".formatted("p50 us", rate)));
    peers.forEach(p -> text.append("  %7s %7s %7s".formatted("p50", "pairs", "best")));
    for (Measurement weft : of(Measurement.WEFT)) {
      text.append(System.lineSeparator()).append(row(weft, peers));
    }
    peers.forEach(p -> text.append(aboveEmpty(p)));
    measurements.forEach(m -> text.append(registered(m)));
    text.append(moved());
    text.append(leftOut());
    return text.append(System.lineSeparator()).toString();
  }

  /// Returns a warning if the host has moved the processors between rounds.
  private String moved() {
    IntSummaryStatistics nanos =
        measurements.stream()
            .map(Measurement::roundHandoverNanos)
            .filter(Objects::nonNull)
            .flatMap(Collection::stream)
            .mapToInt(Integer::intValue)
            .summaryStatistics();
    return nanos.getCount() == 0 || nanos.getMax() <= FAR * nanos.getMin()
        ? ""
        : ("%nthe handover of a cache line between processors and back took %d to %d ns before the"
                + " rounds: the host moves the processors or takes them; compare best")
            .formatted(nanos.getMin(), nanos.getMax());
  }

  /// Returns the number of rounds that were discarded because the host has moved the processors.
  private String leftOut() {
    Integer rounds = measurements.getFirst().roundsMoved();
    return rounds == null
        ? ""
        : "%nrounds discarded because of a longer handover before or after: %d".formatted(rounds);
  }

  /// Returns the registrations with a device, if known.
  private static String registered(Measurement m) {
    RankReport.Registered told = m.registered();
    return told == null
        ? ""
        : String.format(
            Locale.ROOT,
            "%n%s, %d transfers of %s: registered %d times, %s, in %.1f us",
            m.peer(),
            m.iterations(),
            m.size(),
            told.calls(),
            told.bytes() == 0 ? "0 B" : ByteSizes.format(told.bytes()),
            told.micros());
  }

  /// Returns the difference between a step with the smallest tensor and an empty step.
  private String aboveEmpty(String peer) {
    List<Measurement> ours = of(Measurement.WEFT);
    if (!ours.getFirst().size().equals("empty step") || ours.size() < 2) {
      return "";
    }
    double weft = ours.get(1).p50Micros() - ours.get(0).p50Micros();
    double its = at(peer, ours.get(1)).p50Micros() - at(peer, ours.get(0)).p50Micros();
    return String.format(
        Locale.ROOT,
        "%n%s above the empty step: %.1f us, %s %.1f us, ratio %.2f",
        ours.get(1).size(),
        weft,
        peer,
        its,
        its / weft);
  }

  private String head() {
    Measurement first = measurements.getFirst();
    String how =
        first.outstanding() == null ? "" : ", %d outstanding".formatted(first.outstanding());
    if (Benchmark.of(first.benchmark()).isCollective()) {
      how = ", " + first.memory() + " tensors";
    } else if (first.registered() != null) {
      how = ", " + first.memory() + " memory";
    }
    return "%s, %d ranks, %s%s, %s; %s, %d cores, load %.2f%n"
        .formatted(
            first.benchmark(),
            first.ranks(),
            first.transport(),
            how,
            first.rounds() == 1 ? "1 round" : first.rounds() + " rounds",
            first.host().cpu(),
            first.host().cores(),
            first.host().loadAverage());
  }

  private String row(Measurement weft, List<String> peers) {
    StringBuilder row = new StringBuilder("%13s".formatted(weft.size()));
    row.append(figures(weft));
    List<Measurement> beside = peers.stream().map(p -> at(p, weft)).toList();
    beside.forEach(m -> row.append(figures(m)));
    beside.forEach(
        m ->
            row.append(
                "  %s %s %s"
                    .formatted(
                        ratio(p50Ratio(weft, m)),
                        ratio(pairsRatio(weft, m)),
                        ratio(bestRatio(weft, m)))));
    if (Measurement.differs(weft) || beside.stream().anyMatch(Measurement::differs)) {
      row.append("  WRONG RESULT");
    }
    return row.toString();
  }

  /// Formats a ratio with two decimals, or four for a small one.
  private static String ratio(double value) {
    return String.format(Locale.ROOT, value < 0.1 ? "%7.4f" : "%7.2f", value);
  }

  /// Returns Weft / peer of bandwidth.
  static double p50Ratio(Measurement weft, Measurement peer) {
    return peer.p50Micros() / weft.p50Micros();
  }

  static double bestRatio(Measurement weft, Measurement peer) {
    return peer.minMicros() / weft.minMicros();
  }

  /// Returns the median of the ratios of each round.
  static double pairsRatio(Measurement weft, Measurement peer) {
    return Latencies.median(
        IntStream.range(0, weft.roundP50Micros().size())
            .mapToObj(r -> peer.roundP50Micros().get(r) / weft.roundP50Micros().get(r))
            .toList());
  }

  private static String figures(Measurement m) {
    Double messages = m.messagesPerSecond();
    double rate = messages == null ? m.busGigabytesPerSecond() : messages / 1e6;
    String time = m.p50Micros() < 10 ? "  %10.3f" : "  %10.1f";
    return String.format(Locale.ROOT, time + " %10.3f", m.p50Micros(), rate);
  }

  private List<Measurement> of(String peer) {
    return measurements.stream().filter(m -> m.peer().equals(peer)).toList();
  }

  private Measurement at(String peer, Measurement beside) {
    return of(peer).stream().filter(beside::isBeside).findFirst().orElseThrow();
  }

  private static String centred(String title, int width) {
    int left = Math.max(0, (width - title.length()) / 2);
    return ("%-" + width + "s").formatted(" ".repeat(left) + title);
  }
}
