// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// The summary of the figures in words.
record KvSummary(List<KvFigure> figures) {

  KvSummary {
    figures = List.copyOf(figures);
  }

  /// Returns a line for each peer, and for each curve over several numbers of workers.
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    figures.stream()
        .filter(it -> !it.bound() && !it.peer().equals("weft"))
        .forEach(it -> lines.add(ratio(figures.getFirst(), it)));
    figures.stream()
        .filter(it -> it.peer().equals("weft"))
        .collect(Collectors.groupingBy(KvFigure::curve, LinkedHashMap::new, Collectors.toList()))
        .values()
        .stream()
        .filter(it -> it.size() > 1)
        .forEach(it -> lines.add(gain(it)));
    return lines;
  }

  private static String ratio(KvFigure own, KvFigure peer) {
    return String.format(
        Locale.ROOT,
        "%s: weft takes 1 / %.1f of the time of %s, at %.1f times its rate",
        own.op(),
        peer.p50Micros() / own.p50Micros(),
        peer.peer(),
        own.rowsPerSecond() / peer.rowsPerSecond());
  }

  private static String gain(List<KvFigure> curve) {
    KvFigure first = curve.getFirst();
    KvFigure best = Collections.max(curve, Comparator.comparingDouble(KvFigure::requestsPerSecond));
    return String.format(
        Locale.ROOT,
        "%s %s: %.0f requests/s with workers: %d; most: %.0f, %.2f GB/s, with workers: %d",
        first.op(),
        first.curve(),
        first.requestsPerSecond(),
        first.workers(),
        best.requestsPerSecond(),
        best.gigabytesPerSecond(),
        best.workers());
  }
}
