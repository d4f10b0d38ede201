// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.file.NewFile;
import io.weft.transport.limit.IoErrors;
import io.weft.workloads.report.Picture;
import io.weft.workloads.report.Plot;
import io.weft.workloads.report.TrainReport;
import io.weft.workloads.training.TrainingOutcome;
import java.io.IOException;
import java.io.Serial;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The files that a training writes besides the model: report, plot and autotuner log. A failure to
/// write one prevents neither the others nor the summary; it is reported at the end.
final class ReportFiles {

  private final TrainOptions options;
  private final List<String> missing = new ArrayList<>();

  /// A successful training some of whose requested files could not be written.
  static final class Unwritten extends RuntimeException {

    @Serial private static final long serialVersionUID = 1L;

    Unwritten(List<String> missing) {
      super("training is done, but " + String.join("; ", missing));
    }
  }

  /// A plot for which this machine lacks a font or a library.
  static final class Undrawable extends RuntimeException {

    @Serial private static final long serialVersionUID = 1L;

    Undrawable(String what, IOException cause) {
      super(what + ": " + cause.getMessage() + ", or leave the plot out", cause);
    }
  }

  @FunctionalInterface
  private interface Writing {
    void to(Path file) throws IOException;
  }

  ReportFiles(TrainOptions options) {
    this.options = options;
  }

  /// Removes partial files of killed processes. Throws `Undrawable` if the plot cannot be drawn, so
  /// that no training ends without it.
  void begin() {
    options.outputs().json().ifPresent(NewFile::sweep);
    options.outputs().plot().ifPresent(NewFile::sweep);
    if (options.outputs().plot().isPresent()) {
      try {
        Picture.check();
      } catch (IOException undrawable) {
        throw new Undrawable("--plot " + options.outputs().plot().get(), undrawable);
      }
    }
  }

  void write(TrainReport report, TrainingOutcome outcome) {
    missing.clear();
    write("--json", options.outputs().json(), report::write);
    write("--plot", options.outputs().plot(), file -> Plot.write(file, report, outcome));
  }

  /// Writes the samples of an autotuner.
  void writeLog(List<String> lines) {
    byte[] text = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
    write(
        GradientFlags.AUTOTUNE_LOG,
        options.outputs().autotuneLog(),
        file -> NewFile.write(file, text));
  }

  /// Throws `Unwritten` if a file is missing.
  ///
  /// @param unsaved true if a checkpoint could not be written
  void require(boolean unsaved) {
    List<String> all = new ArrayList<>(missing);
    if (unsaved) {
      all.addFirst("not all checkpoints could be written (see above)");
    }
    if (!all.isEmpty()) {
      throw new Unwritten(all);
    }
  }

  private void write(String option, Optional<Path> file, Writing writing) {
    if (file.isEmpty()) {
      return;
    }
    try {
      writing.to(file.get());
    } catch (IOException unwritable) {
      missing.add(option + " " + file.get() + " cannot be written: " + IoErrors.reason(unwritable));
    } catch (RuntimeException undrawable) {
      missing.add(option + " " + file.get() + " cannot be created: " + undrawable);
    }
  }
}
