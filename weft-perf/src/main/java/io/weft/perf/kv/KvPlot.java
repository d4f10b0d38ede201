// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.perf.report.Panel;
import io.weft.perf.report.Panel.PanelCurve;
import io.weft.perf.report.Picture;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ToDoubleFunction;

/// Requests a second of all workers over their number, and how long half of them take at most: a
/// curve for each transport and window.
record KvPlot(List<KvFigure> figures) {

  KvPlot {
    figures = figures.stream().filter(it -> it.checked() != null).toList();
  }

  void save(Path file) throws IOException {
    KvFigure first = figures.getFirst();
    String what =
        "%s of %,d keys, %,d B; %d %s"
            .formatted(
                first.op(),
                first.pairs(),
                first.bytes(),
                first.servers(),
                first.servers() == 1 ? "server" : "servers");
    new Picture(
            List.of(
                panel(what, "requests / s of all workers", true, KvFigure::requestsPerSecond),
                panel(what, "p50, microseconds", false, KvFigure::p50Micros)),
            first.host().words())
        .save(file);
  }

  private Panel panel(
      String title, String up, boolean isRising, ToDoubleFunction<KvFigure> figure) {
    List<PanelCurve> curves =
        figures.stream().map(KvFigure::curve).distinct().map(it -> curve(it, figure)).toList();
    return new Panel(title, "workers", up, isRising, curves);
  }

  private PanelCurve curve(String name, ToDoubleFunction<KvFigure> figure) {
    List<KvFigure> of = figures.stream().filter(it -> it.curve().equals(name)).toList();
    return new PanelCurve(
        name,
        of.stream().map(it -> (double) it.workers()).toList(),
        of.stream().map(it -> figure.applyAsDouble(it)).toList());
  }
}
