// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// What recording a timeline costs: one JSON object. Steps without and with it took turns in the
/// same processes; times are medians of steps of the slowest rank.
///
/// @param benchmark always "recording"
/// @param tensors of a step
/// @param bytes of all of them together
/// @param fusion whether tensors share buffers
/// @param gbit of the link between the ranks, in gigabits a second; absent on one host
/// @param steps that were timed of each
/// @param offMicros a step without
/// @param onMicros a step with
/// @param cost by which part of `offMicros` the other is longer; below 0: by chance, shorter
/// @param checked whether all averages were right
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RecordingFigure(
    String benchmark,
    String model,
    int tensors,
    long bytes,
    boolean fusion,
    int ranks,
    String transport,
    @Nullable Double gbit,
    int steps,
    double offMicros,
    double onMicros,
    double cost,
    boolean checked,
    BenchmarkHost host) {

  /// Throws `PerfException.Failed` where a report lacks one of both.
  ///
  /// @param reports of rounds; at least one
  static RecordingFigure of(
      GradientsPlan plan,
      GradientsFigure.Carrier carrier,
      List<GradientsReport> reports,
      BenchmarkHost host) {
    GradientModel model = plan.gradients();
    List<Long> off = sorted(reports, false);
    List<Long> on = sorted(reports, true);
    double offMicros = off.get(off.size() / 2) / 1e3;
    double onMicros = on.get(on.size() / 2) / 1e3;
    return new RecordingFigure(
        "recording",
        model.name(),
        model.gradients().size(),
        model.bytes(),
        plan.fusion().getFirst(),
        carrier.ranks(),
        carrier.transport(),
        carrier.gbit(),
        off.size(),
        offMicros,
        onMicros,
        Math.round(1e4 * (onMicros / offMicros - 1)) / 1e4,
        reports.stream().allMatch(GradientsReport::checked),
        host);
  }

  private static List<Long> sorted(List<GradientsReport> reports, boolean recorded) {
    List<Long> steps =
        reports.stream()
            .flatMap(report -> report.steps().getOrDefault(recorded, List.of()).stream())
            .sorted()
            .toList();
    if (steps.isEmpty()) {
      throw new PerfException.Failed(
          "the ranks' report has no steps " + (recorded ? "with" : "without") + " recording");
    }
    return steps;
  }

  /// For people: one line.
  public String text() {
    return String.format(
        Locale.ROOT,
        "recording %s, %s, %d ranks, %s: %.1f us a step without, %.1f us with: %+.1f %% (%d steps"
            + " each)%s%n",
        model,
        fusion ? "fused" : "single",
        ranks,
        transport,
        offMicros,
        onMicros,
        100 * cost,
        steps,
        checked ? "" : "  WRONG RESULT");
  }
}
