// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.perf.report.BenchmarkHost;
import io.weft.perf.report.Panel;
import io.weft.perf.report.Panel.PanelCurve;
import io.weft.perf.report.Picture;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/// The request rate of all workers and the median time of a request over the number of workers. The
/// plot has a curve for each transport and window, and for each number of simulated servers.
///
/// @param title the title, which describes the request
/// @param points the points of all curves
/// @param host the machine of the measured points, empty if all are simulated
record KvPlot(String title, List<KvPoint> points, Optional<BenchmarkHost> host) {

  KvPlot {
    points = List.copyOf(points);
  }

  /// Creates a plot without the figures of memcpy and loopback.
  static KvPlot of(List<KvFigure> figures, List<KvPoint> simulated) {
    List<KvFigure> measured = figures.stream().filter(it -> it.checked() != null).toList();
    String title =
        measured.isEmpty()
            ? "pushes to a simulated parameter server"
            : "%s of %,d keys, %,d B; servers: %d"
                .formatted(
                    measured.getFirst().op(),
                    measured.getFirst().pairs(),
                    measured.getFirst().bytes(),
                    measured.getFirst().servers());
    return new KvPlot(
        title,
        Stream.concat(measured.stream().map(KvPoint::of), simulated.stream()).toList(),
        measured.stream().map(KvFigure::host).findFirst());
  }

  void save(Path file) throws IOException {
    List<Panel> panels = new ArrayList<>();
    panels.add(panel(title, "requests / s of all workers", true, KvPoint::requestsPerSecond));
    panels.add(panel(title, "p50 (simulated: mean), microseconds", false, KvPoint::microseconds));
    new Picture(
            panels,
            host.map(BenchmarkHost::words)
                .orElse("simulated: the real protocol code in virtual time"))
        .save(file);
  }

  private Panel panel(String title, String up, boolean isRising, ToDoubleFunction<KvPoint> value) {
    List<PanelCurve> curves =
        points.stream().map(KvPoint::curve).distinct().map(it -> curve(it, value)).toList();
    return new Panel(title, "workers", up, isRising, curves);
  }

  private PanelCurve curve(String name, ToDoubleFunction<KvPoint> value) {
    List<KvPoint> of = points.stream().filter(it -> it.curve().equals(name)).toList();
    return new PanelCurve(
        name,
        of.stream().map(it -> (double) it.workers()).toList(),
        of.stream().map(it -> value.applyAsDouble(it)).toList());
  }
}
