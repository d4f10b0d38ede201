// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.file.ForeignDirectory;
import io.weft.file.NewFile;
import io.weft.perf.experiment.Experiment;
import io.weft.perf.experiment.ExperimentOutput;
import io.weft.perf.report.Figure;
import io.weft.transport.limit.IoErrors;
import io.weft.workloads.report.MeasuredHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `weft reproduce`: measures and simulates the tables and figures of the five documents.
@Command(
    name = "reproduce",
    mixinStandardHelpOptions = true,
    description = {
      "Reproduces every table and figure of the five documents of docs/papers.md. For each figure"
          + " other weft commands measure on this machine what it can show, the simulator of 'weft"
          + " plan' continues to the document's number of ranks, and a verdict compares the result"
          + " with the document: it agrees, it differs and why, or it needs cards that are not"
          + " here.",
      "",
      "DIR/report.html is one page with plots, and DIR/figures.jsonl has a JSON object for each"
          + " figure. Finished rows are kept: the same command continues after an interruption. A"
          + " missing program, device or permission is named in its row, and the other rows"
          + " follow.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft reproduce --quick --out figures      at most ten minutes on two processors",
      "  weft reproduce --full --out figures       longer measurements, and those that take"
          + " minutes",
      "  weft reproduce --only HVD18.fig6,JIA17 --out figures",
      "",
      "What is measured and what is assumed: docs/reproduce.md"
    })
final class ReproduceCommand extends Experiment {

  private static final int KEY_WIDTH = 24;
  private static final long SECOND = 1_000_000_000;

  @Option(names = "--quick", description = "measure for at most ten minutes in total (default)")
  private boolean quick;

  @Option(names = "--full", description = "measure longer, and also trainings with servers")
  private boolean full;

  @Option(
      names = "--only",
      paramLabel = "FIGURE",
      split = ",",
      description =
          "only these figures: a document such as HVD18, a figure such as HVD18.fig6 or HVD18.6,"
              + " several with commas")
  private List<String> only = new ArrayList<>();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      required = true,
      description = "directory of the report, created if it does not exist")
  private Path out = Path.of("");

  ReproduceCommand() {}

  @Override
  protected void measure(ExperimentOutput output) throws InterruptedException {
    if (quick && full) {
      throw new IllegalArgumentException("--quick and --full: give one of them");
    }
    ReproductionMode mode = mode();
    List<PaperFigure> figures = PaperFigures.selected(only);
    makeDirectory();
    Path page = out.resolve("report.html");
    Path file = out.resolve("figures.jsonl");
    writable("--out", page);
    writable("--out", file);
    FigureRows rows = FigureRows.read(file);
    MeasuredHost here = MeasuredHost.here();
    if (here.loadAverage() > here.cores()) {
      output.warn(
          String.format(
              Locale.ROOT,
              "other programs use the processors (load %.1f on %d): measured times will be too"
                  + " long",
              here.loadAverage(),
              here.cores()));
    }
    String host = here.words();
    try (ChildRuns children = new ChildRuns()) {
      reproduce(figures, mode, rows, host, children, output);
    }
    report(new ReproductionReport(rows.shown(mode), host, mode), page, output);
  }

  @Override
  protected Duration defaultLimit() {
    return mode().limit();
  }

  private ReproductionMode mode() {
    return full ? ReproductionMode.FULL : ReproductionMode.QUICK;
  }

  private void makeDirectory() {
    if (Files.exists(out) && !Files.isDirectory(out)) {
      throw new IllegalArgumentException("--out: " + out + " is a file, not a directory");
    }
    try {
      ForeignDirectory.make(out);
    } catch (IOException refused) {
      throw new IllegalArgumentException(
          "--out: cannot create the directory " + out + ": " + IoErrors.reason(refused), refused);
    }
  }

  private void reproduce(
      List<PaperFigure> figures,
      ReproductionMode mode,
      FigureRows rows,
      String host,
      WeftRuns.Starter starter,
      ExperimentOutput output)
      throws InterruptedException {
    long begin = System.nanoTime();
    String[] prefix = {""};
    WeftRuns runs =
        new WeftRuns(
            starter, mode, limit(), line -> output.progress(prefix[0] + line), System::nanoTime);
    Reproduction reproduction = new Reproduction(mode, rows, runs, host);
    for (int i = 0; i < figures.size(); i++) {
      PaperFigure figure = figures.get(i);
      Optional<Figure> finished = rows.finished(figure, mode);
      if (finished.isPresent()) {
        output.add(List.of(finished.get()), line(finished.get(), "  (finished before)"));
        continue;
      }
      prefix[0] =
          "[%d/%d, %d s] %s: "
              .formatted(i + 1, figures.size(), (System.nanoTime() - begin) / SECOND, figure.key());
      output.progress(prefix[0] + "simulating");
      Figure row = reproduction.reproduce(figure);
      output.add(List.of(row), line(row, ""));
    }
  }

  private static String line(Figure row, String more) {
    String key = row.text("document") + "." + row.text("figure");
    return ("%-" + KEY_WIDTH + "s %s%s%n").formatted(key, row.text("verdict"), more);
  }

  private static void report(ReproductionReport report, Path page, ExperimentOutput output) {
    List<String> problems = new ArrayList<>();
    byte[] html = report.page(problems);
    problems.forEach(each -> output.warn("the report has no plots: " + each));
    output.write("--out", page, file -> NewFile.write(file, html));
    output.print("%n%s%n%s%n".formatted(report.summary(), page));
  }
}
