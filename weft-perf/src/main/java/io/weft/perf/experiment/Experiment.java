// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.experiment;

import io.weft.comm.CommException;
import io.weft.file.NewFile;
import io.weft.perf.process.Interruption;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.Figure;
import io.weft.workloads.report.Picture;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// A command that measures cases with contestants in turn and reports the figures as a table, as
/// JSON and as curves. Exits with 0 on success, 1 if a measurement failed or a result was wrong, 2
/// for a wrong command line, 3 if a requirement is missing. The figures of the cases before a
/// failure are reported.
public abstract class Experiment implements Callable<Integer> {

  /// The limit on ranks of one host.
  protected static final int MOST_RANKS = 180;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--limit",
      paramLabel = "S",
      description =
          "seconds that one round of one contestant may take (default: 300), in 'weft reproduce'"
              + " one command (default: 75, with --full 1800)")
  private @Nullable Long limitSeconds;

  @Option(names = "--json", paramLabel = "FILE", description = "write one JSON object per line")
  private @Nullable Path json;

  /// For subclasses.
  protected Experiment() {}

  /// Checks the options, then measures. Throws `IllegalArgumentException` for a wrong command line,
  /// and `PerfException`.
  protected abstract void measure(ExperimentOutput output) throws InterruptedException;

  /// Returns the file of the curves, null if none is requested.
  protected @Nullable Path plot() {
    return null;
  }

  /// Returns the curves of the figures.
  ///
  /// @param measured all figures of the report
  protected Optional<Picture> picture(List<Figure> measured) {
    return Optional.empty();
  }

  @Override
  public final Integer call() throws InterruptedException {
    CommandSpec command = spec();
    PrintWriter err = command.commandLine().getErr();
    int code = 0;
    Interruption interruption = Interruption.toldTo(err);
    var output = new ExperimentOutput(command.commandLine().getOut(), err);
    try (interruption;
        output) {
      within("--limit", limit().toSeconds(), 1, 86_400);
      checkFiles();
      measure(output);
    } catch (IllegalArgumentException | CommException.Setup e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    } catch (PerfException.Missing e) {
      err.println("weft: " + e.getMessage());
      code = 3;
    } catch (PerfException.Failed e) {
      interruption.tell(e);
      code = 1;
    }
    List<Figure> figures = output.figures();
    if (code == 0 || !figures.isEmpty()) {
      save(figures, output);
    }
    boolean right = output.hasKeptAll() && figures.stream().noneMatch(Figure::isWrong);
    return code == 0 && !right ? 1 : code;
  }

  private void save(List<Figure> figures, ExperimentOutput output) {
    Path plot = plot();
    if (json != null) {
      output.write("--json", json, file -> Figure.write(file, figures));
    }
    if (plot != null) {
      picture(figures).ifPresent(drawn -> output.write("--plot", plot, drawn::save));
    }
  }

  private void checkFiles() {
    Path plot = plot();
    if (plot != null && !Picture.knows(plot)) {
      throw new IllegalArgumentException("--plot: " + plot + " must end in .svg or .png");
    }
    writable("--json", json);
    writable("--plot", plot);
    if (json != null && plot != null && absolute(json).equals(absolute(plot))) {
      throw new IllegalArgumentException("--json and --plot: both are " + json);
    }
  }

  private static Path absolute(Path file) {
    return file.toAbsolutePath().normalize();
  }

  /// Throws `IllegalArgumentException` before the measurement if `file` cannot be written.
  public static void writable(String option, @Nullable Path file) {
    Optional<String> obstacle = file == null ? Optional.empty() : NewFile.obstacle(file);
    if (obstacle.isPresent()) {
      throw new IllegalArgumentException(option + ": cannot write " + file + ": " + obstacle.get());
    }
  }

  /// Throws `IllegalArgumentException` with the allowed values if an option is out of range.
  public static void within(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s: %d is out of range; allowed: %d to %d".formatted(option, value, least, most));
    }
  }

  /// Returns the time limit of one round of one contestant.
  protected final Duration limit() {
    return limitSeconds == null ? defaultLimit() : Duration.ofSeconds(limitSeconds);
  }

  /// Returns the time limit without `--limit`.
  protected Duration defaultLimit() {
    return Duration.ofMinutes(5);
  }

  /// Returns the parsed command.
  protected final CommandSpec spec() {
    return Objects.requireNonNull(spec, "picocli sets the spec");
  }
}
