// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import java.util.List;
import java.util.Locale;

/// The plot as SVG text.
final class SvgPlot {

  private static final int WIDTH = 900;
  private static final int TOP = 50;
  private static final int PANEL = 260;
  private static final int LEFT = 90;
  private static final int RIGHT = 30;
  private static final int GAP = 60;

  private final StringBuilder svg = new StringBuilder();

  private SvgPlot() {}

  static String of(String title, List<Curve> curves) {
    var plot = new SvgPlot();
    int height = TOP + curves.size() * PANEL;
    plot.svg.append(
        """
        <svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d' \
        font-family='sans-serif' font-size='13' fill='#333'>
        <rect width='100%%' height='100%%' fill='white'/>
        """
            .formatted(WIDTH, height, WIDTH, height));
    plot.text(WIDTH / 2.0, 30, "middle", title, " font-size='17' font-weight='bold'");
    double lastStep = curves.stream().map(c -> c.x().getLast()).max(Double::compare).orElse(1.0);
    for (int i = 0; i < curves.size(); i++) {
      plot.panel(curves.get(i), TOP + i * PANEL, AxisScale.from(0, lastStep));
    }
    plot.svg.append("</svg>\n");
    return plot.svg.toString();
  }

  private void panel(Curve curve, int top, AxisScale steps) {
    double low = curve.y().stream().min(Double::compare).orElse(0.0);
    double high = curve.y().stream().max(Double::compare).orElse(1.0);
    AxisScale values = AxisScale.from(low, high);
    int bottom = top + PANEL - GAP;
    for (int i = 0; values.low() + i * values.step() <= values.high() + values.step() / 2; i++) {
      double value = values.low() + i * values.step();
      double y = bottom - values.part(value) * (bottom - top);
      line(LEFT, y, WIDTH - RIGHT, y, "#ddd");
      text(LEFT - 8, y + 4, "end", values.number(value), "");
    }
    for (int i = 0; i * steps.step() <= steps.high() + steps.step() / 2; i++) {
      double x = x(steps, i * steps.step());
      line(x, bottom, x, bottom + 5, "#888");
      text(x, bottom + 19, "middle", steps.number(i * steps.step()), "");
    }
    line(LEFT, bottom, WIDTH - RIGHT, bottom, "#888");
    text(WIDTH / 2.0, bottom + 36, "middle", "step", "");
    double middle = (top + bottom) / 2.0;
    text(24, middle, "middle", curve.title(), " transform='rotate(-90 24 " + fixed(middle) + ")'");
    svg.append("<polyline fill='none' stroke='#1f5fa8' stroke-width='1.8' points='");
    for (int i = 0; i < curve.x().size(); i++) {
      svg.append(fixed(x(steps, curve.x().get(i))))
          .append(',')
          .append(fixed(y(values, curve.y().get(i), top, bottom)))
          .append(' ');
    }
    svg.append("'/>\n");
    for (int i = 0; curve.x().size() <= 20 && i < curve.x().size(); i++) {
      dot(x(steps, curve.x().get(i)), y(values, curve.y().get(i), top, bottom));
    }
  }

  private void dot(double x, double y) {
    svg.append("<circle cx='%s' cy='%s' r='4' fill='#1f5fa8'/>\n".formatted(fixed(x), fixed(y)));
  }

  private static double x(AxisScale steps, double step) {
    return LEFT + steps.part(step) * (WIDTH - RIGHT - LEFT);
  }

  private static double y(AxisScale values, double value, int top, int bottom) {
    return bottom - values.part(value) * (bottom - top);
  }

  private void line(double x1, double y1, double x2, double y2, String colour) {
    svg.append(
        "<line x1='%s' y1='%s' x2='%s' y2='%s' stroke='%s'/>\n"
            .formatted(fixed(x1), fixed(y1), fixed(x2), fixed(y2), colour));
  }

  private void text(double x, double y, String anchor, String words, String attributes) {
    svg.append("<text x='%s' y='%s' text-anchor='%s'".formatted(fixed(x), fixed(y), anchor))
        .append(attributes)
        .append('>')
        .append(words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
        .append("</text>\n");
  }

  private static String fixed(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
