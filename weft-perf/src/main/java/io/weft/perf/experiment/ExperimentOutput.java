// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.experiment;

import io.weft.perf.report.Figure;
import io.weft.perf.report.PerfProgress;
import io.weft.perf.report.RankReport;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The output of a running experiment: its progress, its tables, and all its figures. Confined to
/// one thread.
public final class ExperimentOutput implements AutoCloseable {
  private final PrintWriter out;
  private final PrintWriter err;
  private final PerfProgress progress;
  private final List<Figure> figures = new ArrayList<>();
  private boolean kept = true;

  ExperimentOutput(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
    this.progress = PerfProgress.to(err);
  }

  /// Runs rounds in which the contestants take turns, A B A B …, so that other load on the machine
  /// affects all of them. Returns their reports in the order of the contestants. Throws
  /// `PerfException`.
  ///
  /// @param prefix text before the number of the round in the lines of progress
  public List<ContestantRounds> rounds(String prefix, int rounds, List<Contestant> contestants)
      throws InterruptedException {
    List<List<RankReport>> reports = new ArrayList<>();
    contestants.forEach(each -> reports.add(new ArrayList<>()));
    for (int round = 1; round <= rounds; round++) {
      for (int c = 0; c < contestants.size(); c++) {
        Contestant next = contestants.get(c);
        progress("%sround %d of %d: %s".formatted(prefix, round, rounds, next.name()));
        reports.get(c).add(next.round().run());
      }
    }
    List<ContestantRounds> all = new ArrayList<>();
    for (int c = 0; rounds > 0 && c < contestants.size(); c++) {
      all.add(new ContestantRounds(contestants.get(c).name(), reports.get(c)));
    }
    return all;
  }

  /// Shows the part of the experiment that runs now.
  public void progress(String line) {
    progress.accept(line);
  }

  /// Adds figures to the report and prints their table at once, so that they remain if a later case
  /// fails.
  public void add(List<Figure> more, String table) {
    figures.addAll(more);
    print(table);
  }

  /// Prints a part of the result to standard output.
  public void print(String text) {
    progress.close();
    out.print(text);
    out.flush();
  }

  /// Prints a message to standard error.
  public void warn(String message) {
    progress.close();
    err.println("weft: " + message);
  }

  /// The code that writes a file.
  @FunctionalInterface
  public interface Writing {
    /// Replaces the file completely or not at all.
    void to(Path file) throws IOException;
  }

  /// Writes a file that an option requests. A failure is reported, and affects neither the
  /// measurement nor other files.
  public void write(String option, Path file, Writing writing) {
    try {
      writing.to(file);
    } catch (IOException refused) {
      String reason = IoErrors.words(refused);
      warn("cannot write %s %s: %s".formatted(option, file, reason.replace(file + ": ", "")));
      kept = false;
    }
  }

  /// Returns true if all files were written.
  boolean hasKeptAll() {
    return kept;
  }

  /// Returns the figures that were added so far.
  public List<Figure> figures() {
    return List.copyOf(figures);
  }

  @Override
  public void close() {
    progress.close();
  }
}
