// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import de.erichseifert.vectorgraphics2d.Processors;
import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import io.weft.file.NewFile;
import java.awt.AWTError;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.AffineTransform;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;
import javax.imageio.ImageIO;
import org.knowm.xchart.XYChart;

/// Charts of equal size in rows, with a line below them. XChart draws them, with the JDK's graphics
/// and a font.
///
/// @param charts the charts row by row; `save` makes them
/// @param columns the number of charts in a row, at least 1
/// @param scale the pixels of a unit of the charts in PNG
/// @param foot the line below the charts; empty for none
public record Picture(List<Supplier<XYChart>> charts, int columns, int scale, String foot) {

  private static final int FOOT = 26;

  /// Copies the list.
  public Picture {
    charts = List.copyOf(charts);
    Objects.requireNonNull(foot);
  }

  /// Returns whether `file` has a suffix that `save` supports: `.svg` or `.png`.
  public static boolean knows(Path file) {
    return ends(file, ".svg") || ends(file, ".png");
  }

  private static boolean ends(Path file, String suffix) {
    return file.toString().toLowerCase(Locale.ROOT).endsWith(suffix);
  }

  /// Measures a letter, for which the JDK needs its graphics and a font. Throws `IOException` with
  /// the packages to install if the JDK cannot draw.
  public static void check() throws IOException {
    var image = new BufferedImage(1, 1, BufferedImage.TYPE_INT_RGB);
    try {
      Graphics2D graphics = image.createGraphics();
      var unused =
          graphics.getFontMetrics(new Font(Font.SANS_SERIF, Font.PLAIN, FOOT)).charWidth('a');
      graphics.dispose();
    } catch (UnsatisfiedLinkError
        | NoClassDefFoundError
        | InternalError
        | AWTError
        | RuntimeException e) { // the JDK throws a RuntimeException where it finds no font
      throw undrawable(e);
    }
  }

  /// Writes `file` as SVG or PNG, according to its suffix. Throws `IOException` with the packages
  /// to install if the JDK cannot draw.
  public void save(Path file) throws IOException {
    Objects.requireNonNull(file);
    NewFile.write(file, ends(file, ".svg") ? drawn(this::writeSvg) : drawn(this::writePng));
  }

  /// Returns the picture as SVG in UTF-8. Throws `IOException` with the packages to install if the
  /// JDK cannot draw.
  public byte[] svg() throws IOException {
    return drawn(this::writeSvg);
  }

  /// The encoding of drawn charts.
  private interface Format {
    void write(List<XYChart> drawn, OutputStream out) throws IOException;
  }

  private byte[] drawn(Format format) throws IOException {
    var out = new ByteArrayOutputStream();
    try {
      format.write(charts.stream().map(Supplier::get).toList(), out);
      return out.toByteArray();
    } catch (UnsatisfiedLinkError | NoClassDefFoundError | InternalError | AWTError e) {
      throw undrawable(e);
    }
  }

  private static IOException undrawable(Throwable cause) {
    return new IOException(
        "the JDK cannot draw here (" + cause + "); install libfreetype6, fontconfig and a font",
        cause);
  }

  private void writeSvg(List<XYChart> drawn, OutputStream out) throws IOException {
    VectorGraphics2D graphics = new VectorGraphics2D();
    draw(drawn, graphics);
    PageSize page = new PageSize(0, 0, width(drawn), height(drawn));
    Processors.get("svg").getDocument(graphics.getCommands(), page).writeTo(out);
  }

  private void writePng(List<XYChart> drawn, OutputStream out) throws IOException {
    BufferedImage image =
        new BufferedImage(scale * width(drawn), scale * height(drawn), BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    graphics.scale(scale, scale);
    draw(drawn, graphics);
    graphics.dispose();
    if (!ImageIO.write(image, "png", out)) {
      throw new IOException("this JDK cannot write PNG");
    }
  }

  private int width(List<XYChart> drawn) {
    return columns * drawn.getFirst().getWidth();
  }

  private int height(List<XYChart> drawn) {
    int rows = Math.ceilDiv(drawn.size(), columns);
    return rows * drawn.getFirst().getHeight() + (foot.isEmpty() ? 0 : FOOT);
  }

  private void draw(List<XYChart> drawn, Graphics2D graphics) {
    AffineTransform origin = graphics.getTransform();
    for (int i = 0; i < drawn.size(); i++) {
      XYChart chart = drawn.get(i);
      graphics.setTransform(origin);
      graphics.translate(i % columns * chart.getWidth(), i / columns * chart.getHeight());
      chart.paint(graphics, chart.getWidth(), chart.getHeight());
    }
    graphics.setTransform(origin);
    if (!foot.isEmpty()) {
      int bottom = height(drawn);
      graphics.setColor(Color.WHITE);
      graphics.fillRect(0, bottom - FOOT, width(drawn), FOOT);
      graphics.setColor(Color.DARK_GRAY);
      graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, FOOT / 2));
      graphics.drawString(foot, FOOT, bottom - FOOT / 2);
    }
  }
}
