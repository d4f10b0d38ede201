// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import java.util.List;
import java.util.Locale;

/// The table of figures, with the speedup of a step by fusion.
///
/// @param figures the figures, at least one
public record GradientsTable(List<GradientsFigure> figures) {

  /// Copies the list.
  public GradientsTable {
    figures = List.copyOf(figures);
  }

  /// Returns the lines of the table: for each model a header, its figures, and ratios.
  public String text() {
    StringBuilder text = new StringBuilder();
    for (String model : figures.stream().map(GradientsFigure::model).distinct().toList()) {
      List<GradientsFigure> of =
          figures.stream().filter(figure -> figure.model().equals(model)).toList();
      text.append(head(of.getFirst()));
      of.forEach(figure -> text.append(row(figure)));
      for (GradientsFigure single : of) {
        of.stream()
            .filter(fused -> isFasterThan(fused, single))
            .forEach(fused -> text.append(ratio(fused, single)));
      }
    }
    return text.toString();
  }

  private static String head(GradientsFigure first) {
    return String.format(
        Locale.ROOT,
        "gradients of %s: %d tensors, %.1f MB, %.1f ms of computation a step%n"
            + "%-24s %5s %9s %12s %12s %10s %12s %12s%n",
        first.model(),
        first.tensors(),
        first.bytes() / 1e6,
        first.computeMicros() / 1e3,
        "",
        "ranks",
        "transport",
        "step us",
        "exposed us",
        "efficiency",
        "KB a step",
        "collectives");
  }

  private static boolean isFasterThan(GradientsFigure fused, GradientsFigure single) {
    return Boolean.TRUE.equals(fused.fusion())
        && !Boolean.TRUE.equals(single.fusion())
        && fused.ranks() == single.ranks()
        && fused.transport().equals(single.transport())
        && fused.ranks() > 1;
  }

  private static String row(GradientsFigure figure) {
    return String.format(
        Locale.ROOT,
        "%-24s %5d %9s %12.1f %12.1f %10s %12s %12s%s%n",
        name(figure),
        figure.ranks(),
        figure.transport(),
        figure.stepMicros(),
        figure.exposedMicros(),
        figure.efficiency() == null
            ? ""
            : String.format(Locale.ROOT, "%.1f %%", 100 * figure.efficiency()),
        figure.bytesPerStep() == null
            ? ""
            : String.format(Locale.ROOT, "%.1f", figure.bytesPerStep() / 1e3),
        figure.collectivesPerStep() == null
            ? ""
            : String.format(Locale.ROOT, "%.1f", figure.collectivesPerStep()),
        Boolean.FALSE.equals(figure.checked()) ? "  WRONG RESULT" : "");
  }

  private static String ratio(GradientsFigure fused, GradientsFigure single) {
    return String.format(
        Locale.ROOT,
        "%d ranks, %s: with fusion a step is %.2f times as fast as %s%n",
        fused.ranks(),
        fused.transport(),
        single.stepMicros() / fused.stepMicros(),
        single.fusion() == null ? "that of " + single.peer() : "without");
  }

  private static String name(GradientsFigure figure) {
    if (figure.fusion() == null) {
      return figure.peer();
    }
    return figure.peer()
        + (figure.fusion() ? ", fused" : ", single")
        + (figure.simulated() ? ", simulated" : "");
  }
}
