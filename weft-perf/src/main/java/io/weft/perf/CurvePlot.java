// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.report.Panel;
import io.weft.perf.report.Picture;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/// The plot of latency and of bus bandwidth (or messages per second) over size on logarithmic axes.
/// Each contestant has a curve. A line names the machine.
record CurvePlot(List<Measurement> measurements) {

  CurvePlot {
    measurements = List.copyOf(measurements);
  }

  /// Writes `file` as SVG or PNG, according to its suffix.
  void save(Path file) throws IOException {
    new Picture(panels(), facts()).save(file);
  }

  /// Returns the host and the number of rounds.
  private String facts() {
    Measurement first = measurements.getFirst();
    String rounds =
        first.rounds() == 1
            ? "one round"
            : "medians of %d interleaved rounds".formatted(first.rounds());
    return first.host().words() + "; " + rounds;
  }

  /// Returns the panel of latency, and that of bandwidth if bytes were moved.
  private List<Panel> panels() {
    Measurement first = measurements.getFirst();
    String what = "%s, %d ranks, %s".formatted(first.benchmark(), first.ranks(), first.transport());
    if (Benchmark.of(first.benchmark()).isCollective()) {
      what += ", " + first.memory() + " tensors";
    }
    Panel latency = panel(what + ": latency", "p50, microseconds", false, Measurement::p50Micros);
    if (first.messagesPerSecond() != null) {
      return List.of(latency, panel(what + ": rate", "messages / s", true, CurvePlot::rate));
    }
    if (measurements.stream().noneMatch(m -> m.busGigabytesPerSecond() > 0)) {
      return List.of(latency);
    }
    return List.of(
        latency, panel(what + ": bus bandwidth", "GB/s", true, Measurement::busGigabytesPerSecond));
  }

  private static double rate(Measurement measurement) {
    Double messages = measurement.messagesPerSecond();
    return messages == null ? 0 : messages;
  }

  /// Returns the name of a curve: the contestant, and the number of tensors if there are several
  /// curves.
  private static String curve(Measurement measurement) {
    Integer tensors = measurement.tensors();
    return measurement.peer() + (tensors == null ? "" : ", %d tensors".formatted(tensors));
  }

  private Panel panel(
      String title, String axis, boolean isRising, Function<Measurement, Double> figure) {
    List<Measurement> drawn =
        measurements.stream().filter(m -> !Objects.equals(m.tensors(), 0)).toList();
    List<Panel.PanelCurve> curves =
        drawn.stream()
            .map(CurvePlot::curve)
            .distinct()
            .map(
                name -> {
                  List<Measurement> of = drawn.stream().filter(m -> curve(m).equals(name)).toList();
                  return new Panel.PanelCurve(
                      name,
                      of.stream().map(m -> (double) m.bytes()).toList(),
                      of.stream().map(figure).toList());
                })
            .toList();
    return new Panel(title, "bytes", axis, isRising, curves);
  }
}
