// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One figure of the parameter server: one JSON object of the report. Of several workers each
/// request counts as long as the slowest worker's; rates are those of all together.
///
/// @param benchmark always "kv"
/// @param op push, pull, pushpull; memcpy's are copies of as many bytes
/// @param peer "weft", or "memcpy" beside it
/// @param pairs keys of a request
/// @param bytes of their values
/// @param dim floats of a key
/// @param window requests under way at once
/// @param checked whether all values were compared and right; absent for memcpy
@JsonInclude(JsonInclude.Include.NON_NULL)
public record KvFigure(
    String benchmark,
    String op,
    String peer,
    String transport,
    int workers,
    int servers,
    int pairs,
    long bytes,
    int dim,
    int window,
    double p50Micros,
    double p99Micros,
    double gigabytesPerSecond,
    double rowsPerSecond,
    @Nullable Boolean checked,
    BenchmarkHost host) {

  /// What ranks have measured.
  ///
  /// @param nanos of each request
  /// @param total nanoseconds of all of them
  /// @param copy nanoseconds of a copy in memory
  /// @param checked whether all values were right
  record Run(long[] nanos, long total, long copy, boolean checked) {}

  static String line(Run run) {
    StringBuilder line = new StringBuilder("kv ");
    line.append(run.checked() ? "checked " : "wrong ").append(run.total()).append(' ');
    line.append(run.copy());
    for (long each : run.nanos()) {
      line.append(' ').append(each);
    }
    return line.toString();
  }

  /// Of weft and memcpy, from the ranks' lines. Throws `PerfException.Failed` where there is no
  /// report.
  static List<KvFigure> parse(
      KvPlan plan, String transport, List<String> lines, BenchmarkHost host) {
    String report =
        lines.stream()
            .map(it -> it.replaceFirst("^\\[\\d+\\] ", ""))
            .filter(it -> it.startsWith("kv "))
            .findFirst()
            .orElseThrow(
                () ->
                    new PerfException.Failed(
                        "the ranks have not reported:%n%s".formatted(String.join("\n", lines))));
    String[] words = report.split(" ", -1);
    long[] numbers = Arrays.stream(words).skip(2).mapToLong(Long::parseLong).toArray();
    long[] nanos = Arrays.copyOfRange(numbers, 2, numbers.length);
    Arrays.sort(nanos);
    double p50 = nanos[nanos.length / 2] / 1e3;
    double p99 = nanos[Math.min(nanos.length - 1, nanos.length * 99 / 100)] / 1e3;
    double perSecond = 1e9 * nanos.length * plan.workers() / numbers[0];
    boolean right = words[1].equals("checked");
    double copy = numbers[1] / 1e3;
    return List.of(
        of(plan, "weft", transport, new double[] {p50, p99, perSecond}, right, host),
        of(plan, "memcpy", transport, new double[] {copy, copy, 1e6 / copy}, null, host));
  }

  private static KvFigure of(
      KvPlan plan,
      String peer,
      String transport,
      double[] times,
      @Nullable Boolean right,
      BenchmarkHost host) {
    return new KvFigure(
        "kv",
        plan.op().word(),
        peer,
        transport,
        plan.workers(),
        plan.servers(),
        plan.keys(),
        plan.bytes(),
        plan.width(),
        plan.window(),
        hundredths(times[0]),
        hundredths(times[1]),
        hundredths(times[2] * plan.bytes() / 1e9),
        Math.rint(times[2] * plan.keys()),
        right,
        host);
  }

  private static double hundredths(double value) {
    return Math.round(100 * value) / 100.0;
  }

  /// A line for people.
  public String text() {
    return String.format(
        Locale.ROOT,
        "%-8s %-8s %-5s %2d+%-2d %8d pairs %10d B window %3d  p50 %10.1f us  p99 %10.1f us  %7.2f"
            + " GB/s %s%n",
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
        checked == null ? "" : checked ? "checked" : "WRONG");
  }
}
