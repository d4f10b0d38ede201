// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import io.weft.testkit.job.AtExit;
import io.weft.transport.limit.ClampedDuration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// A running job: its launcher, its ranks, their output and their files. All files lie in one
/// directory. `close` ends all its processes.
final class TorturedJob implements AutoCloseable {

  private static final long LOOK_NANOS = 20_000_000;

  private final Path directory;
  private final Processes processes;
  private final Process launcher;
  private final AtExit onExit;

  private TorturedJob(Path directory, Processes processes, Process launcher) {
    this.directory = directory;
    this.processes = processes;
    this.launcher = launcher;
    this.onExit = new AtExit("weft-torture-end", this::end);
  }

  /// Starts the scenario's command with the directory of the ranks' output.
  ///
  /// @param options options of the launcher, between its subcommand and the program
  static TorturedJob start(
      Path directory,
      FaultScenario scenario,
      List<String> before,
      List<String> options,
      Map<String, String> environment)
      throws IOException {
    Path temporary = Files.createDirectories(directory.resolve("tmp"));
    var command = new ArrayList<>(before);
    command.addAll(scenario.launcher());
    command.addAll(
        List.of(
            "-np",
            Integer.toString(scenario.ranks()),
            "--output-dir",
            directory.resolve("ranks").toString()));
    command.addAll(options);
    command.addAll(scenario.program());
    var builder =
        new ProcessBuilder(command)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(directory.resolve("stdout").toFile())
            .redirectError(directory.resolve("stderr").toFile());
    String mark = directory.toString();
    builder.environment().keySet().removeIf(name -> name.matches("WEFT_(RANK|SIZE|LOCAL_.*)"));
    builder.environment().put(Processes.MARK, mark);
    builder.environment().put("TMPDIR", temporary.toString());
    // The processes live too briefly for the optimizing compiler to pay off.
    builder
        .environment()
        .put(
            "JAVA_TOOL_OPTIONS",
            "-XX:TieredStopAtLevel=1 -Djava.io.tmpdir="
                + temporary
                + " -XX:ErrorFile="
                + temporary.resolve("hs_err_%p.log"));
    builder.environment().putAll(environment);
    return new TorturedJob(directory, new Processes(mark), builder.start());
  }

  Processes processes() {
    return processes;
  }

  /// Waits until `condition` is true. Returns false if the launcher ends or `limit` passes first.
  boolean await(BooleanSupplier condition, Duration limit) {
    long end = System.nanoTime() + ClampedDuration.nanos(limit);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0 || !launcher.isAlive()) {
        return condition.getAsBoolean();
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return true;
  }

  /// Returns whether the launcher has ended within `limit`.
  boolean awaitEnd(Duration limit) throws InterruptedException {
    return launcher.waitFor(ClampedDuration.millis(limit), TimeUnit.MILLISECONDS);
  }

  /// Returns the exit code of the launcher, which must have ended.
  int exitCode() {
    return launcher.exitValue();
  }

  /// Returns the launcher's own lines, which begin with `weft:`.
  List<String> launcherLines() {
    return lines(directory.resolve("stderr")).filter(line -> line.startsWith("weft:")).toList();
  }

  /// Returns the output of a rank, beginning with standard output.
  List<String> rankLines(int rank) {
    Path files = directory.resolve("ranks").resolve("rank." + rank);
    return Stream.concat(lines(files.resolve("stdout")), lines(files.resolve("stderr"))).toList();
  }

  /// Returns the exit code of a rank that the launcher has recorded, -1 without one.
  int rankExitCode(int rank) {
    Path file = directory.resolve("ranks").resolve("rank." + rank).resolve("exit");
    return lines(file).findFirst().map(line -> Integer.parseInt(line.strip())).orElse(-1);
  }

  /// Returns whether a rank has printed a line that matches `pattern`.
  boolean anyRankPrinted(Pattern pattern, int ranks) {
    for (int rank = 0; rank < ranks; rank++) {
      if (rankLines(rank).stream().anyMatch(line -> pattern.matcher(line).find())) {
        return true;
      }
    }
    return false;
  }

  /// Returns the names of the temporary files that the job has left.
  List<String> leftovers() throws IOException {
    try (Stream<Path> left = Files.walk(directory.resolve("tmp"))) {
      return left.skip(1).map(path -> path.getFileName().toString()).toList();
    }
  }

  private static Stream<String> lines(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines();
    } catch (NoSuchFileException notYet) {
      return Stream.empty();
    } catch (IOException unreadable) {
      return Stream.of("unreadable: " + unreadable);
    }
  }

  @Override
  public void close() {
    onExit.close();
  }

  private void end() {
    launcher.destroyForcibly();
    for (ProcessHandle process : processes.alive()) {
      process.destroyForcibly();
    }
  }
}
