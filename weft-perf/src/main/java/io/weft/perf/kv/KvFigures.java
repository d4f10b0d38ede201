// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.perf.kv.KvPlan.Subject;
import io.weft.perf.report.Figure;
import io.weft.perf.report.Panel;
import io.weft.workloads.report.MeasuredHost;
import io.weft.workloads.report.Picture;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The figures of the parameter server. With several workers, the time of a request is that of the
/// slowest worker. Rates are totals over all workers. The comparisons "memcpy" and "loopback" have
/// the operation of the case and are not checked.
final class KvFigures {

  private KvFigures() {}

  /// Summarizes all rounds of one contestant.
  ///
  /// @param clients "processes" if each worker has a process, "threads" if the workers share one
  /// @param nanos times of all requests in ascending order
  /// @param total nanoseconds of all rounds
  static Figure of(
      KvPlan plan, String peer, String transport, String clients, List<Long> nanos, double total) {
    double perSecond = 1e9 * nanos.size() * plan.workers() / Math.max(1, total);
    return Figure.of("kv")
        .with("op", plan.op().word())
        .with("peer", peer)
        .with("transport", transport)
        .with("workers", plan.workers())
        .with("servers", plan.servers())
        .with("serverThreads", plan.serverThreads())
        .with("clients", clients)
        .with("pairs", plan.subject().count())
        .with("bytes", plan.bytes())
        .with("rows", plan.subject() instanceof Subject.Rows rows ? rows.rows() : null)
        .with("dim", plan.subject().floats())
        .with("window", plan.window())
        .with("p50Micros", hundredths(nanos.get(nanos.size() / 2) / 1e3))
        .with(
            "p99Micros",
            hundredths(nanos.get(Math.min(nanos.size() - 1, nanos.size() * 99 / 100)) / 1e3))
        .with("requestsPerSecond", hundredths(perSecond))
        .with("gigabytesPerSecond", hundredths(perSecond * plan.bytes() / 1e9))
        .with("rowsPerSecond", Math.rint(perSecond * plan.subject().count()));
  }

  private static double hundredths(double value) {
    return Math.round(100 * value) / 100.0;
  }

  /// Returns true for memcpy and loopback, which measure the machine instead of a parameter server.
  static boolean isBound(Figure figure) {
    return figure.text("peer").equals("memcpy") || figure.text("peer").equals("loopback");
  }

  /// Returns a line of the table.
  static String row(Figure figure) {
    return String.format(
        Locale.ROOT,
        "%-14s %-8s %-5s %2d+%-4s %8d pairs %10d B window %3d  p50 %10.1f us  p99 %10.1f us "
            + " %7.2f GB/s %12.0f rows/s %8.0f requests/s %s%n",
        figure.text("peer"),
        figure.text("op"),
        figure.text("transport"),
        figure.integer("workers"),
        figure.text("servers") + threads(figure, "x"),
        figure.integer("pairs"),
        figure.integer("bytes"),
        figure.integer("window"),
        figure.number("p50Micros"),
        figure.number("p99Micros"),
        figure.number("gigabytesPerSecond"),
        figure.number("rowsPerSecond"),
        figure.number("requestsPerSecond"),
        figure.has("checked") ? figure.isWrong() ? "WRONG" : "checked" : "");
  }

  /// Returns the name of the curve of a measured or simulated figure over the number of workers.
  static String curve(Figure figure) {
    return figure.has("simulated")
        ? "simulated, servers: %s, window %s, %,.0f keys"
            .formatted(figure.text("servers"), figure.text("window"), figure.number("pairs"))
        : "%s over %s, window %s%s"
            .formatted(
                figure.text("peer"),
                figure.text("transport"),
                figure.text("window"),
                threads(figure, ", threads of a server: "));
  }

  /// Returns the number of a server's threads after `before`; empty for one.
  private static String threads(Figure figure, String before) {
    return figure.integer("serverThreads") == 1 ? "" : before + figure.integer("serverThreads");
  }

  /// Returns the summary in words: a line for each peer, and for each curve over several numbers of
  /// workers.
  static String summary(List<Figure> figures) {
    StringBuilder lines = new StringBuilder();
    figures.stream()
        .filter(each -> !isBound(each) && !each.text("peer").equals("weft"))
        .forEach(each -> lines.append(ratio(figures.getFirst(), each)));
    figures.stream()
        .filter(each -> each.text("peer").equals("weft"))
        .collect(Collectors.groupingBy(KvFigures::curve, LinkedHashMap::new, Collectors.toList()))
        .values()
        .stream()
        .filter(each -> each.size() > 1)
        .forEach(each -> lines.append(gain(each)));
    return lines.toString();
  }

  private static String ratio(Figure own, Figure peer) {
    return String.format(
        Locale.ROOT,
        "%s: weft takes 1 / %.1f of the time of %s, at %.1f times its rate%n",
        own.text("op"),
        peer.number("p50Micros") / own.number("p50Micros"),
        peer.text("peer"),
        own.number("rowsPerSecond") / peer.number("rowsPerSecond"));
  }

  private static String gain(List<Figure> curve) {
    Figure first = curve.getFirst();
    Figure best =
        Collections.max(
            curve, Comparator.comparingDouble(each -> each.number("requestsPerSecond")));
    return String.format(
        Locale.ROOT,
        "%s %s: %.0f requests/s with workers: %d; most: %.0f, %.2f GB/s, with workers: %d%n",
        first.text("op"),
        curve(first),
        first.number("requestsPerSecond"),
        first.integer("workers"),
        best.number("requestsPerSecond"),
        best.number("gigabytesPerSecond"),
        best.integer("workers"));
  }

  /// Returns the request rate of all workers and the median time of a request over the number of
  /// workers, without memcpy and loopback. Each transport and window has a curve, as has each
  /// number of simulated servers.
  static Optional<Picture> picture(List<Figure> figures, List<Figure> simulated) {
    List<Figure> drawn = new ArrayList<>(figures.stream().filter(it -> it.has("checked")).toList());
    @Nullable MeasuredHost host = drawn.isEmpty() ? null : drawn.getFirst().host();
    drawn.addAll(simulated);
    if (drawn.isEmpty()) {
      return Optional.empty();
    }
    Figure first = drawn.getFirst();
    String title =
        host == null
            ? "pushes to a simulated parameter server"
            : "%s of %,d keys, %,d B; servers: %d"
                .formatted(
                    first.text("op"),
                    first.integer("pairs"),
                    first.integer("bytes"),
                    first.integer("servers"));
    Panel rate =
        new Panel(
            title,
            "workers",
            "requests / s of all workers",
            true,
            Panel.curves(
                drawn,
                KvFigures::curve,
                each -> each.number("workers"),
                each -> each.number("requestsPerSecond")));
    Panel time =
        new Panel(
            title,
            "workers",
            "p50 (simulated: mean), microseconds",
            false,
            Panel.curves(
                drawn,
                KvFigures::curve,
                each -> each.number("workers"),
                each -> each.number(each.has("simulated") ? "meanMicros" : "p50Micros")));
    String foot = host == null ? "simulated: the real protocol code in virtual time" : host.words();
    return Optional.of(Panel.picture(List.of(rate, time), foot));
  }
}
