// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.perf.report.BenchmarkHost;
import io.weft.perf.report.Panel;
import io.weft.perf.report.Picture;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/// The plot of the step rate and of the median time of a step over the number of workers. The names
/// of the curves distinguish measured from simulated figures.
record TrafficPlot(List<TrafficFigure> figures) {

  TrafficPlot {
    figures = List.copyOf(figures);
  }

  void save(Path file) throws IOException {
    TrafficFigure first = figures.getFirst();
    String what =
        "%s: %d servers, %d x %d B"
            .formatted(first.benchmark(), first.servers(), first.tensors(), first.bytes());
    List<Panel> panels = new ArrayList<>();
    panels.add(panel(what, "steps / s of all workers", true, TrafficFigure::stepsPerSecond));
    if (figures.stream().anyMatch(figure -> figure.p50Millis() != null)) {
      panels.add(
          panel(
              what + ": a step",
              "p50, milliseconds",
              false,
              figure -> Objects.requireNonNullElse(figure.p50Millis(), 0.0)));
    }
    new Picture(panels, facts()).save(file);
  }

  private String facts() {
    return figures.stream()
        .map(TrafficFigure::host)
        .filter(Objects::nonNull)
        .findFirst()
        .map(BenchmarkHost::words)
        .orElse("simulated: the protocol's own code in virtual time");
  }

  private Panel panel(
      String title, String up, boolean isRising, Function<TrafficFigure, Double> figure) {
    List<Panel.PanelCurve> curves =
        figures.stream()
            .filter(one -> figure.apply(one) > 0)
            .map(TrafficPlot::name)
            .distinct()
            .map(name -> curve(name, figure))
            .toList();
    return new Panel(title, "workers", up, isRising, curves);
  }

  private Panel.PanelCurve curve(String name, Function<TrafficFigure, Double> figure) {
    List<TrafficFigure> of =
        figures.stream().filter(one -> name(one).equals(name) && figure.apply(one) > 0).toList();
    return new Panel.PanelCurve(
        name,
        of.stream().map(one -> (double) one.workers()).toList(),
        of.stream().map(figure).toList());
  }

  private static String name(TrafficFigure figure) {
    return figure.peer()
        + (figure.simulated() ? ", simulated" : " over " + figure.transport() + ", measured");
  }
}
