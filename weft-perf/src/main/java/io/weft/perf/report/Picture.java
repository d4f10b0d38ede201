// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.report;

import de.erichseifert.vectorgraphics2d.Processors;
import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import io.weft.file.NewFile;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.AffineTransform;
import java.awt.image.BufferedImage;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;
import org.knowm.xchart.XYChart;

/// Panels side by side with a line below them.
///
/// @param panels the panels from left to right
/// @param foot the line, which names the machine and the method
public record Picture(List<Panel> panels, String foot) {

  private static final int FOOT = 26;
  private static final int SCALE = 2;

  /// Copies the list.
  public Picture {
    panels = List.copyOf(panels);
  }

  /// Returns whether `file` has a suffix that `save` supports.
  public static boolean knows(Path file) {
    String name = file.toString().toLowerCase(Locale.ROOT);
    return name.endsWith(".svg") || name.endsWith(".png");
  }

  /// Writes `file` as SVG or PNG, according to its suffix.
  public void save(Path file) throws IOException {
    if (file.toString().toLowerCase(Locale.ROOT).endsWith(".svg")) {
      VectorGraphics2D graphics = new VectorGraphics2D();
      draw(graphics);
      PageSize page = new PageSize(0, 0, width(), Panel.HEIGHT);
      NewFile.write(
          file,
          out -> {
            var buffered = new BufferedOutputStream(out, 1 << 16);
            Processors.get("svg").getDocument(graphics.getCommands(), page).writeTo(buffered);
            buffered.flush();
          });
      return;
    }
    BufferedImage image =
        new BufferedImage(SCALE * width(), SCALE * Panel.HEIGHT, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    graphics.scale(SCALE, SCALE);
    draw(graphics);
    graphics.dispose();
    NewFile.write(
        file,
        out -> {
          var buffered = new BufferedOutputStream(out, 1 << 16);
          if (!ImageIO.write(image, "png", buffered)) {
            throw new IOException("this JDK cannot write PNG");
          }
          buffered.flush();
        });
  }

  private int width() {
    return panels.size() * Panel.WIDTH;
  }

  private void draw(Graphics2D graphics) {
    AffineTransform origin = graphics.getTransform();
    for (int p = 0; p < panels.size(); p++) {
      XYChart chart = panels.get(p).chart();
      graphics.setTransform(origin);
      graphics.translate(p * Panel.WIDTH, 0);
      chart.paint(graphics, Panel.WIDTH, Panel.HEIGHT - FOOT);
    }
    graphics.setTransform(origin);
    graphics.setColor(Color.WHITE);
    graphics.fillRect(0, Panel.HEIGHT - FOOT, width(), FOOT);
    graphics.setColor(Color.DARK_GRAY);
    graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, FOOT / 2));
    graphics.drawString(foot, FOOT, Panel.HEIGHT - FOOT / 2);
  }
}
