// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import de.erichseifert.vectorgraphics2d.Processors;
import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.AffineTransform;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import javax.imageio.ImageIO;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/// Draws latency and bus bandwidth (or messages per second) over size, one curve for each
/// contestant, on logarithmic axes; below them the machine they belong to.
record CurvePlot(List<Measurement> measurements) {

  private static final int PANEL_WIDTH = 720;
  private static final int HEIGHT = 560;
  private static final int FOOT = 26;
  private static final int SCALE = 2;
  private static final MathContext ONE_DIGIT = new MathContext(1);

  CurvePlot {
    measurements = List.copyOf(measurements);
  }

  /// Whether `file` has a suffix that `save` knows.
  static boolean knows(Path file) {
    String name = file.toString().toLowerCase(Locale.ROOT);
    return name.endsWith(".svg") || name.endsWith(".png");
  }

  /// Writes `file` as its suffix says: SVG or PNG.
  void save(Path file) throws IOException {
    if (file.toString().toLowerCase(Locale.ROOT).endsWith(".svg")) {
      VectorGraphics2D graphics = new VectorGraphics2D();
      draw(graphics);
      PageSize page = new PageSize(0, 0, width(), HEIGHT);
      try (OutputStream out = Files.newOutputStream(file)) {
        Processors.get("svg").getDocument(graphics.getCommands(), page).writeTo(out);
      }
      return;
    }
    BufferedImage image =
        new BufferedImage(SCALE * width(), SCALE * HEIGHT, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    graphics.scale(SCALE, SCALE);
    draw(graphics);
    graphics.dispose();
    if (!ImageIO.write(image, "png", file.toFile())) {
      throw new IOException("this JDK cannot write PNG");
    }
  }

  private void draw(Graphics2D graphics) {
    AffineTransform origin = graphics.getTransform();
    List<XYChart> panels = panels();
    for (int p = 0; p < panels.size(); p++) {
      graphics.setTransform(origin);
      graphics.translate(p * PANEL_WIDTH, 0);
      panels.get(p).paint(graphics, PANEL_WIDTH, HEIGHT - FOOT);
    }
    graphics.setTransform(origin);
    graphics.setColor(Color.WHITE);
    graphics.fillRect(0, HEIGHT - FOOT, width(), FOOT);
    graphics.setColor(Color.DARK_GRAY);
    graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, FOOT / 2));
    graphics.drawString(facts(), FOOT, HEIGHT - FOOT / 2);
  }

  /// The host, and how the figures came about.
  private String facts() {
    Measurement first = measurements.getFirst();
    HostFacts host = first.host();
    return "%s, %d cores, %s, JDK %s, load %.2f before; medians of %d interleaved rounds"
        .formatted(
            host.cpu(),
            host.cores(),
            host.kernel(),
            host.jdk(),
            host.loadAverage(),
            first.rounds());
  }

  private int width() {
    return panels().size() * PANEL_WIDTH;
  }

  /// Latency, and bandwidth where bytes moved.
  private List<XYChart> panels() {
    Measurement first = measurements.getFirst();
    String what = "%s, %d ranks, %s".formatted(first.benchmark(), first.ranks(), first.transport());
    if (Benchmark.of(first.benchmark()).isCollective()) {
      what += ", " + first.memory() + " tensors";
    }
    XYChart latency =
        panel(
            what + ": latency",
            "p50, microseconds",
            Measurement::p50Micros,
            LegendPosition.InsideNW);
    if (first.messagesPerSecond() != null) {
      return List.of(
          latency,
          panel(what + ": rate", "messages / s", CurvePlot::rate, LegendPosition.InsideSE));
    }
    if (measurements.stream().noneMatch(m -> m.busGigabytesPerSecond() > 0)) {
      return List.of(latency);
    }
    return List.of(
        latency,
        panel(
            what + ": bus bandwidth",
            "GB/s",
            Measurement::busGigabytesPerSecond,
            LegendPosition.InsideSE));
  }

  private static double rate(Measurement measurement) {
    Double messages = measurement.messagesPerSecond();
    return messages == null ? 0 : messages;
  }

  /// `10`, `1 k`, `10 M`: decimal, as the axis is.
  private static String decade(double bytes) {
    if (bytes >= 1e9) {
      return "%.0f G".formatted(bytes / 1e9);
    }
    if (bytes >= 1e6) {
      return "%.0f M".formatted(bytes / 1e6);
    }
    return bytes >= 1e3 ? "%.0f k".formatted(bytes / 1e3) : "%.0f".formatted(bytes);
  }

  /// `1,000`, `10`, `0.1`, `0.001`, `1E-6`.
  private static String power(double value) {
    if (value >= 1) {
      return "%,.0f".formatted(value);
    }
    return value >= 1e-4
        ? new BigDecimal(value).round(ONE_DIGIT).toPlainString()
        : "%.0E".formatted(value);
  }

  /// Who, and of how many tensors where that differs.
  private static String curve(Measurement measurement) {
    Integer tensors = measurement.tensors();
    return measurement.peer() + (tensors == null ? "" : ", %d tensors".formatted(tensors));
  }

  private XYChart panel(
      String title, String axis, Function<Measurement, Double> figure, LegendPosition legend) {
    XYChart chart =
        new XYChartBuilder()
            .width(PANEL_WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle("bytes")
            .yAxisTitle(axis)
            .build();
    chart.getStyler().setLegendPosition(legend).setChartBackgroundColor(Color.WHITE);
    chart
        .getStyler()
        .setXAxisLogarithmic(true)
        .setYAxisLogarithmic(true)
        .setPlotGridLinesColor(new Color(225, 225, 225))
        .setPlotGridLinesStroke(new BasicStroke(0.5f))
        .setXAxisTickLabelsFormattingFunction(CurvePlot::decade)
        .setYAxisTickLabelsFormattingFunction(CurvePlot::power);
    List<Measurement> drawn =
        measurements.stream().filter(m -> !Objects.equals(m.tensors(), 0)).toList();
    for (String name : drawn.stream().map(CurvePlot::curve).distinct().toList()) {
      List<Measurement> curve = drawn.stream().filter(m -> curve(m).equals(name)).toList();
      chart
          .addSeries(
              name,
              curve.stream().map(m -> Math.max(1, m.bytes())).toList(),
              curve.stream().map(m -> Math.max(1e-6, figure.apply(m))).toList())
          .setMarker(SeriesMarkers.CIRCLE);
    }
    return chart;
  }
}
