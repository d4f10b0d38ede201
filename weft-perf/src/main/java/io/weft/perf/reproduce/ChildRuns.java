// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.file.ForeignFile;
import io.weft.file.ScratchDirectory;
import io.weft.perf.process.Child;
import io.weft.perf.process.PerfException;
import io.weft.perf.process.WeftProgram;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Runs `weft` commands as child processes, which end with this process at the latest. Owned;
/// confined to one thread.
final class ChildRuns implements WeftRuns.Starter, AutoCloseable {

  private static final int MOST_BYTES = 16 << 20;
  private static final int MISSING = 3;
  private static final int MOST_CHARACTERS = 400;
  private static final Duration GRACE = Duration.ofSeconds(10);

  private final ScratchDirectory directory;
  private int count;

  /// Throws `PerfException.Failed` if the temporary directory cannot be created.
  ChildRuns() {
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    try {
      directory = ScratchDirectory.create(temporary, "weft-reproduce");
    } catch (IOException refused) {
      throw new PerfException.Failed(
          "cannot create a directory for reports in %s: %s"
              .formatted(temporary, IoErrors.words(refused)),
          refused);
    }
  }

  @Override
  public RunReport run(WeftRun run, Duration limit) throws InterruptedException {
    Path json = directory.path().resolve("report-" + count++ + ".json");
    List<String> words = new ArrayList<>(run.arguments(directory.path().toString()));
    words.addAll(List.of("--json", json.toString()));
    Child.ChildOutput output;
    try (Child child = Child.start(WeftProgram.command(words), run.settings())) {
      if (!child.hasEnded(limit)) {
        throw new PerfException.Failed(
            "%s was still running after %d s and was ended"
                .formatted(run.text(), limit.toSeconds()));
      }
      output = child.await(GRACE);
    }
    return switch (output.exit()) {
      case 0 -> read(run, json);
      case MISSING -> throw new PerfException.Missing(reason(output));
      default ->
          throw new PerfException.Failed(
              "%s ended with %d: %s".formatted(run.text(), output.exit(), reason(output)));
    };
  }

  private static RunReport read(WeftRun run, Path json) {
    try {
      return RunReport.parse(run.text(), ForeignFile.found(json).text(MOST_BYTES));
    } catch (IOException unreadable) {
      throw new PerfException.Failed(
          "%s: its report cannot be read: %s".formatted(run.text(), IoErrors.words(unreadable)),
          unreadable);
    }
  }

  /// Returns the error messages of `weft`, or else the last lines of the error output.
  private static String reason(Child.ChildOutput output) {
    List<String> told =
        output.err().stream()
            .filter(line -> line.startsWith("weft: "))
            .map(line -> line.substring("weft: ".length()))
            .toList();
    String all = told.isEmpty() ? output.lastWords() : String.join("; ", told);
    String line = all.replaceAll("\\s+", " ").strip();
    return line.length() <= MOST_CHARACTERS ? line : line.substring(0, MOST_CHARACTERS) + " …";
  }

  @Override
  public void close() {
    try {
      directory.close();
    } catch (IOException remains) {
      // The next reproduction deletes the remains.
      assert !remains.toString().isEmpty();
    }
  }
}
