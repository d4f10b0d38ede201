// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.perf.report.Panel;
import io.weft.perf.report.Picture;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// The speedup of a job over one rank as a function of its ranks. Each model has a panel.
///
/// @param figures the simulated figures
public record GradientsCurves(List<GradientsFigure> figures) {

  /// Copies the list.
  public GradientsCurves {
    figures = List.copyOf(figures);
  }

  /// Writes `file` as SVG or PNG, according to its suffix.
  public void save(Path file) throws IOException {
    List<Panel> panels = new ArrayList<>();
    for (String model : figures.stream().map(GradientsFigure::model).distinct().toList()) {
      List<GradientsFigure> of =
          figures.stream().filter(figure -> figure.model().equals(model)).toList();
      List<Panel.PanelCurve> curves = new ArrayList<>(List.of(ideal(of)));
      of.stream()
          .map(GradientsCurves::name)
          .distinct()
          .forEach(name -> curves.add(curve(name, of)));
      panels.add(new Panel(model, "ranks, 4 on each host", "times one rank", true, curves));
    }
    new Picture(
            panels,
            String.format(
                Locale.ROOT,
                "simulated: fusion and choice of algorithms by Weft's code, times by formula; %s"
                    + " Gbit/s between hosts",
                figures.getFirst().gbit()))
        .save(file);
  }

  private static Panel.PanelCurve ideal(List<GradientsFigure> of) {
    List<Double> ranks = of.stream().map(f -> (double) f.ranks()).distinct().sorted().toList();
    return new Panel.PanelCurve("ideal", ranks, ranks);
  }

  private static Panel.PanelCurve curve(String name, List<GradientsFigure> of) {
    List<GradientsFigure> own = of.stream().filter(f -> name(f).equals(name)).toList();
    return new Panel.PanelCurve(
        name,
        own.stream().map(f -> (double) f.ranks()).toList(),
        own.stream().map(f -> f.ranks() * f.computeMicros() / f.stepMicros()).toList());
  }

  private static String name(GradientsFigure figure) {
    return figure.transport() + (Boolean.TRUE.equals(figure.fusion()) ? ", fused" : ", single");
  }
}
