// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import java.util.List;
import java.util.Locale;

/// The figures side by side, for people. A ratio above 1 means that Weft is ahead: that of `p50` is
/// Weft / peer of bus bandwidth and, at the same time, peer / Weft of latency; `best` is the same
/// of the fastest calls.
record RatioTable(List<Measurement> measurements) {

  private static final String WEFT = "weft";

  RatioTable {
    measurements = List.copyOf(measurements);
  }

  /// Lines of text, the head first.
  String text() {
    List<String> peers =
        measurements.stream()
            .map(Measurement::peer)
            .distinct()
            .filter(p -> !p.equals(WEFT))
            .toList();
    StringBuilder text = new StringBuilder();
    Measurement first = measurements.getFirst();
    text.append(
        "%s, %d ranks, %s, %d rounds; %s, %d cores, load %.2f%n"
            .formatted(
                first.benchmark(),
                first.ranks(),
                first.transport(),
                first.rounds(),
                first.host().cpu(),
                first.host().cores(),
                first.host().loadAverage()));
    text.append("%10s  %s".formatted("", centred(WEFT, 21)));
    peers.forEach(p -> text.append("  ").append(centred(p, 21)));
    peers.forEach(p -> text.append("  ").append(centred(WEFT + " / " + p, 16)));
    text.append("%n%10s  %10s %10s".formatted("size", "p50 us", "bus GB/s"));
    peers.forEach(p -> text.append("  %10s %10s".formatted("p50 us", "bus GB/s")));
    peers.forEach(p -> text.append("  %7s %8s".formatted("p50", "best")));
    for (Measurement weft : of(WEFT)) {
      text.append(System.lineSeparator()).append(row(weft, peers));
    }
    return text.append(System.lineSeparator()).toString();
  }

  private String row(Measurement weft, List<String> peers) {
    StringBuilder row = new StringBuilder("%10s".formatted(ByteSizes.format(weft.bytes())));
    row.append(figures(weft));
    List<Measurement> beside = peers.stream().map(p -> at(p, weft.bytes())).toList();
    beside.forEach(m -> row.append(figures(m)));
    beside.forEach(
        m ->
            row.append(
                String.format(
                    Locale.ROOT, "  %7.2f %8.2f", p50Ratio(weft, m), bestRatio(weft, m))));
    if (!weft.checked() || !beside.stream().allMatch(Measurement::checked)) {
      row.append("  WRONG RESULT");
    }
    return row.toString();
  }

  /// Weft / peer of bandwidth.
  static double p50Ratio(Measurement weft, Measurement peer) {
    return peer.p50Micros() / weft.p50Micros();
  }

  static double bestRatio(Measurement weft, Measurement peer) {
    return peer.minMicros() / weft.minMicros();
  }

  private static String figures(Measurement m) {
    return String.format(Locale.ROOT, "  %10.1f %10.3f", m.p50Micros(), m.busGigabytesPerSecond());
  }

  private List<Measurement> of(String peer) {
    return measurements.stream().filter(m -> m.peer().equals(peer)).toList();
  }

  private Measurement at(String peer, long bytes) {
    return of(peer).stream().filter(m -> m.bytes() == bytes).findFirst().orElseThrow();
  }

  private static String centred(String title, int width) {
    int left = Math.max(0, (width - title.length()) / 2);
    return ("%-" + width + "s").formatted(" ".repeat(left) + title);
  }
}
