// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.report;

import io.weft.workloads.report.Picture;
import java.awt.BasicStroke;
import java.awt.Color;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/// A panel of curves on logarithmic axes. Values of 0 and below are drawn near 0.
///
/// @param title the title
/// @param across label of the horizontal axis
/// @param up label of the vertical axis
/// @param isRising true if the curves rise to the right, which moves the legend to the bottom
/// @param curves the curves, which have distinct names
public record Panel(
    String title, String across, String up, boolean isRising, List<PanelCurve> curves) {

  private static final int WIDTH = 720;
  private static final int HEIGHT = 534;
  private static final int SCALE = 2;

  private static final double LEAST = 1e-6;
  private static final MathContext ONE_DIGIT = new MathContext(1);

  /// Copies the list.
  public Panel {
    curves = List.copyOf(curves);
  }

  /// One curve.
  ///
  /// @param name label in the legend
  /// @param across horizontal positions of the points, at least 1
  /// @param up vertical positions of the points
  public record PanelCurve(String name, List<Double> across, List<Double> up) {

    /// Copies the lists.
    public PanelCurve {
      across = List.copyOf(across);
      up = List.copyOf(up);
    }
  }

  /// Returns a curve for each name of figures, without values of 0 and below.
  ///
  /// @param name name of a figure's curve
  public static List<PanelCurve> curves(
      List<Figure> figures,
      Function<Figure, String> name,
      ToDoubleFunction<Figure> across,
      ToDoubleFunction<Figure> up) {
    return figures.stream()
        .filter(each -> up.applyAsDouble(each) > 0)
        .collect(Collectors.groupingBy(name, LinkedHashMap::new, Collectors.toList()))
        .entrySet()
        .stream()
        .map(
            curve ->
                new PanelCurve(
                    curve.getKey(),
                    curve.getValue().stream().map(across::applyAsDouble).toList(),
                    curve.getValue().stream().map(up::applyAsDouble).toList()))
        .toList();
  }

  /// Returns a picture of panels side by side.
  ///
  /// @param foot the line below, which names the machine and the method
  public static Picture picture(List<Panel> panels, String foot) {
    List<Supplier<XYChart>> charts = new ArrayList<>();
    panels.forEach(panel -> charts.add(panel::chart));
    return new Picture(charts, panels.size(), SCALE, foot);
  }

  private XYChart chart() {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle(across)
            .yAxisTitle(up)
            .build();
    chart
        .getStyler()
        .setLegendPosition(isRising ? LegendPosition.InsideSE : LegendPosition.InsideNW)
        .setChartBackgroundColor(Color.WHITE);
    chart
        .getStyler()
        .setXAxisLogarithmic(true)
        .setYAxisLogarithmic(true)
        .setPlotGridLinesColor(new Color(225, 225, 225))
        .setPlotGridLinesStroke(new BasicStroke(0.5f))
        .setXAxisTickLabelsFormattingFunction(Panel::decade)
        .setYAxisTickLabelsFormattingFunction(Panel::power);
    for (PanelCurve curve : curves) {
      chart
          .addSeries(
              curve.name(),
              curve.across().stream().map(x -> Math.max(1, x)).toList(),
              curve.up().stream().map(y -> Math.max(LEAST, y)).toList())
          .setMarker(SeriesMarkers.CIRCLE);
    }
    return chart;
  }

  /// Returns a decimal label of the horizontal axis: `10`, `1 k`, `10 M`.
  private static String decade(double value) {
    if (value >= 1e9) {
      return "%.0f G".formatted(value / 1e9);
    }
    if (value >= 1e6) {
      return "%.0f M".formatted(value / 1e6);
    }
    return value >= 1e3 ? "%.0f k".formatted(value / 1e3) : "%.0f".formatted(value);
  }

  /// Returns a label of the vertical axis: `1,000`, `10`, `0.1`, `0.001`, `1E-6`.
  private static String power(double value) {
    if (value >= 1) {
      return "%,.0f".formatted(value);
    }
    return value >= 1e-4
        ? new BigDecimal(value).round(ONE_DIGIT).toPlainString()
        : "%.0E".formatted(value);
  }
}
