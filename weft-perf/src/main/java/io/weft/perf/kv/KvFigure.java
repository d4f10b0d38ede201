// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.weft.perf.kv.KvPlan.Subject;
import io.weft.perf.report.BenchmarkHost;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One figure of the parameter server: one JSON object of the report. With several workers, the
/// time of a request is that of the slowest worker. Rates are totals over all workers.
///
/// @param benchmark always "kv"
/// @param op push, pull, pushpull, lookup or update; memcpy and loopback figures repeat that of the
///   case
/// @param peer "weft", another system, or the comparisons "memcpy" and "loopback"
/// @param clients "processes" if each worker has a process, "threads" if the workers share one
/// @param pairs number of keys of a request
/// @param bytes size of their values
/// @param rows rows of the sparse table, absent for other subjects
/// @param dim floats of a key
/// @param window requests in flight
/// @param checked true if all values were compared and right, absent for memcpy and loopback
@JsonInclude(JsonInclude.Include.NON_NULL)
public record KvFigure(
    String benchmark,
    String op,
    String peer,
    String transport,
    int workers,
    int servers,
    String clients,
    int pairs,
    long bytes,
    @Nullable Integer rows,
    long dim,
    int window,
    double p50Micros,
    double p99Micros,
    double requestsPerSecond,
    double gigabytesPerSecond,
    double rowsPerSecond,
    @Nullable Boolean checked,
    BenchmarkHost host) {

  /// Summarizes all rounds of one contestant.
  ///
  /// @param peer the contestant's name
  /// @param right true if all values were right, null if none was compared
  static KvFigure of(
      KvCase one, String peer, List<KvRun> rounds, @Nullable Boolean right, BenchmarkHost host) {
    KvPlan plan = one.plan();
    long[] nanos =
        rounds.stream().flatMapToLong(it -> Arrays.stream(it.nanos())).sorted().toArray();
    long total = rounds.stream().mapToLong(KvRun::total).sum();
    double perSecond = 1e9 * nanos.length * plan.workers() / Math.max(1, total);
    return new KvFigure(
        "kv",
        plan.op().word(),
        peer,
        one.transport(),
        plan.workers(),
        plan.servers(),
        one.clients().word(),
        plan.subject().count(),
        plan.bytes(),
        plan.subject() instanceof Subject.Rows rows ? rows.rows() : null,
        plan.subject().floats(),
        plan.window(),
        hundredths(nanos[nanos.length / 2] / 1e3),
        hundredths(nanos[Math.min(nanos.length - 1, nanos.length * 99 / 100)] / 1e3),
        hundredths(perSecond),
        hundredths(perSecond * plan.bytes() / 1e9),
        Math.rint(perSecond * plan.subject().count()),
        right,
        host);
  }

  private static double hundredths(double value) {
    return Math.round(100 * value) / 100.0;
  }

  /// Returns true for memcpy and loopback, which measure the machine instead of a parameter server.
  boolean bound() {
    return peer.equals("memcpy") || peer.equals("loopback");
  }

  /// Returns the name of the figure's curve over the number of workers.
  public String curve() {
    return "%s over %s, window %d".formatted(peer, transport, window);
  }

  /// Returns the figure as a line of the table.
  public String text() {
    return String.format(
        Locale.ROOT,
        "%-14s %-8s %-5s %2d+%-2d %8d pairs %10d B window %3d  p50 %10.1f us  p99 %10.1f us  %7.2f"
            + " GB/s %12.0f rows/s %8.0f requests/s %s%n",
        peer,
        op,
        transport,
        workers,
        servers,
        pairs,
        bytes,
        window,
        p50Micros,
        p99Micros,
        gigabytesPerSecond,
        rowsPerSecond,
        requestsPerSecond,
        checked == null ? "" : checked ? "checked" : "WRONG");
  }
}
