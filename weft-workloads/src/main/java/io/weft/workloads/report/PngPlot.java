// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import io.weft.file.NewFile;
import java.awt.AWTError;
import java.awt.Color;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/// The plot as pixels, drawn by XChart.
final class PngPlot {

  private static final int WIDTH = 900;
  private static final int HEIGHT = 300;
  private static final int LEFT = 90;
  private static final Color BLUE = new Color(0x1f, 0x5f, 0xa8);

  private PngPlot() {}

  static void write(Path file, String title, List<Curve> curves) throws IOException {
    var charts = new ArrayList<XYChart>();
    double last = curves.stream().map(c -> c.x().getLast()).max(Double::compare).orElse(1.0);
    AxisScale steps = AxisScale.from(0, last);
    var out = new ByteArrayOutputStream();
    try {
      for (Curve curve : curves) {
        charts.add(chart(charts.isEmpty() ? title : "", curve, steps));
      }
      BitmapEncoder.saveBitmap(charts, charts.size(), 1, out, BitmapFormat.PNG);
    } catch (UnsatisfiedLinkError | NoClassDefFoundError | InternalError | AWTError e) {
      throw new IOException(
          "the JDK cannot draw PNG here ("
              + e
              + "); install libfreetype6, fontconfig and a font, or give a file that ends in .svg",
          e);
    }
    NewFile.write(file, out.toByteArray());
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
