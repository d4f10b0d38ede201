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

/// Requests a second of all workers over their number, and how long half of them take at most: a
/// curve for each transport and window, and for each number of simulated servers.
///
/// @param title what is asked for
/// @param host where it was measured; empty = all is simulated
record KvPlot(String title, List<KvPoint> points, Optional<BenchmarkHost> host) {

  KvPlot {
    points = List.copyOf(points);
  }

  /// Without what stands beside as the least that the machine needs.
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
                .orElse("simulated: the protocol's own code in virtual time"))
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
