// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The cost of recording a timeline: one JSON object. Steps without and with recording took turns
/// in the same processes. Times are medians of steps on the slowest rank.
///
/// @param benchmark always "recording"
/// @param tensors number of tensors of a step
/// @param bytes size of all tensors together
/// @param fusion true if tensors share buffers
/// @param gbit speed of the link between the ranks in gigabits a second, absent on one host
/// @param steps number of timed steps of each kind
/// @param offMicros time of a step without recording
/// @param onMicros time of a step with recording
/// @param cost the increase as a fraction of `offMicros`; a negative value is due to chance
/// @param checked true if all averages were right
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

  /// Summarizes rounds. Throws `PerfException.Failed` if the reports lack steps with or without
  /// recording.
  ///
  /// @param reports reports of the rounds, at least one
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

  /// Returns the figure in one line.
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
