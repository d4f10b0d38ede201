// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.weft.perf.kv.KvPlan.Subject;
import io.weft.perf.report.BenchmarkHost;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One figure of the parameter server: one JSON object of the report. Of several workers each
/// request counts as long as the slowest worker's; rates are those of all together.
///
/// @param benchmark always "kv"
/// @param op push, pull, pushpull, lookup, update; of memcpy and loopback the way of as many bytes
/// @param peer "weft", another system, or "memcpy" and "loopback" beside them
/// @param clients "processes" where each worker is in a process of its own, "threads" where they
///   share one
/// @param pairs keys of a request
/// @param bytes of their values
/// @param rows of a sparse table; absent for others
/// @param dim floats of a key
/// @param window requests under way at once
/// @param checked whether all values were compared and right; absent for memcpy and loopback
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

  /// Of what was measured in all rounds.
  ///
  /// @param peer who
  /// @param right whether all values were; null = none was compared
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

  /// Whether it is what memory or a plain socket can do, and no parameter server's.
  boolean bound() {
    return peer.equals("memcpy") || peer.equals("loopback");
  }

  /// Name of the curve to which it belongs, among those over the number of workers.
  public String curve() {
    return "%s over %s, window %d".formatted(peer, transport, window);
  }

  /// A line for people.
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
