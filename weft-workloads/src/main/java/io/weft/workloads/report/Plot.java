// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import io.weft.file.NewFile;
import io.weft.workloads.training.TrainingOutcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/// A plot of a run: loss, accuracy and speed in three charts. SVG is written as text and has no
/// requirements; PNG needs the JDK's graphics and a font.
public final class Plot {

  private Plot() {}

  /// Returns whether the file's ending is a supported format: `.svg` or `.png`.
  public static boolean draws(Path file) {
    return ending(file, ".svg") || ending(file, ".png");
  }

  /// Draws the plot. Throws `IOException` with the packages to install if PNG is unsupported.
  public static void write(Path file, TrainReport report, TrainingOutcome outcome)
      throws IOException {
    String title =
        String.format(
            Locale.ROOT,
            "%s, %s, %d rank%s",
            report.workload(),
            report.dataset(),
            report.ranks(),
            report.ranks() == 1 ? "" : "s");
    List<Curve> curves = Curve.of(outcome, report.globalBatch());
    if (ending(file, ".svg")) {
      NewFile.write(file, SvgPlot.of(title, curves).getBytes(StandardCharsets.UTF_8));
    } else {
      PngPlot.write(file, title, curves);
    }
  }

  private static boolean ending(Path file, String ending) {
    return file.toString().toLowerCase(Locale.ROOT).endsWith(ending);
  }
}
