// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.file.NewFile;
import io.weft.transport.limit.Refusal;
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

/// What a training leaves beside the model and its summary: report and picture. That one cannot be
/// written keeps neither the other nor the summary back; it is told at the end. One thread.
final class ReportFiles {

  private final TrainOptions options;
  private final List<String> missing = new ArrayList<>();

  /// A training that ended well, but something that was asked for beside it is not on disk.
  static final class Unwritten extends RuntimeException {

    @Serial private static final long serialVersionUID = 1L;

    Unwritten(List<String> missing) {
      super("training is done, but " + String.join("; ", missing));
    }
  }

  @FunctionalInterface
  private interface Writing {
    void to(Path file) throws IOException;
  }

  ReportFiles(TrainOptions options) {
    this.options = options;
  }

  /// Removes what killed processes have left of these files.
  void sweep() {
    options.json().ifPresent(NewFile::sweep);
    options.plot().ifPresent(NewFile::sweep);
  }

  void write(TrainReport report, TrainingOutcome outcome) {
    missing.clear();
    write("--json", options.json(), report::write);
    write("--plot", options.plot(), file -> Plot.write(file, report, outcome));
  }

  /// Writes the samples of an autotuner.
  void writeLog(List<String> lines) {
    byte[] text = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
    write(GradientFlags.AUTOTUNE_LOG, options.autotuneLog(), file -> NewFile.write(file, text));
  }

  /// Throws `Unwritten` if something is missing.
  ///
  /// @param unsaved whether a checkpoint could not be written
  void require(boolean unsaved) {
    List<String> all = new ArrayList<>(missing);
    if (unsaved) {
      all.addFirst("not all checkpoints could be written, as was told above");
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
      missing.add(option + " " + file.get() + " cannot be written: " + Refusal.reason(unwritable));
    } catch (RuntimeException undrawable) {
      missing.add(option + " " + file.get() + " cannot be made: " + undrawable);
    }
  }
}
