// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import io.weft.workloads.training.TrainingOutcome;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/// A plot of a run: loss, accuracy and speed in three charts.
public final class Plot {

  private static final int WIDTH = 900;
  private static final int HEIGHT = 300;
  private static final int LEFT = 90;
  private static final Color BLUE = new Color(0x1f, 0x5f, 0xa8);

  private Plot() {}

  /// Draws the plot, as SVG or PNG according to the file's suffix.
  public static void write(Path file, TrainReport report, TrainingOutcome outcome)
      throws IOException {
    Objects.requireNonNull(file);
    String title =
        String.format(
            Locale.ROOT,
            "%s, %s, %d rank%s",
            report.workload(),
            report.dataset(),
            report.ranks(),
            report.ranks() == 1 ? "" : "s");
    List<Curve> curves = Curve.of(outcome, report.globalBatch());
    double last = curves.stream().map(c -> c.x().getLast()).max(Double::compare).orElse(1.0);
    AxisScale steps = AxisScale.from(0, last);
    List<Supplier<XYChart>> charts = new ArrayList<>();
    for (Curve curve : curves) {
      String above = charts.isEmpty() ? title : "";
      charts.add(() -> chart(above, curve, steps));
    }
    new Picture(charts, 1, 1, "").save(file);
  }

  /// Returns a chart. All charts of a plot have the same left and right edges and the same steps.
  private static XYChart chart(String title, Curve curve, AxisScale steps) {
    AxisScale values = AxisScale.of(curve.y());
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle("step")
            .yAxisTitle(curve.title())
            .build();
    chart
        .getStyler()
        .setLegendVisible(false)
        .setChartTitleVisible(!title.isEmpty())
        .setChartBackgroundColor(Color.WHITE);
    chart
        .getStyler()
        .setXAxisMin(steps.low())
        .setXAxisMax(steps.high())
        .setXAxisTickLabelsFormattingFunction(steps::numberBetween)
        .setYAxisMin(values.low())
        .setYAxisMax(values.high())
        .setYAxisTickLabelsFormattingFunction(values::numberBetween);
    chart.getStyler().setYAxisLeftWidthHint(LEFT);
    chart.getStyler().setPlotBorderVisible(false);
    XYSeries series = chart.addSeries(curve.title(), curve.x(), curve.y());
    series.setMarker(curve.x().size() <= 20 ? SeriesMarkers.CIRCLE : SeriesMarkers.NONE);
    series.setMarkerColor(BLUE);
    series.setLineColor(BLUE);
    series.setLineWidth(1.8f);
    return chart;
  }
}
