// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import io.weft.testkit.job.AtExit;
import io.weft.transport.limit.Span;
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

/// A job that runs: its launcher, its ranks, what it prints and what it leaves. All its files lie
/// below one directory. `close` ends everything of it.
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

  /// Starts a command that ranks' output directory is added to.
  ///
  /// @param options of the launcher, put between its subcommand and the program
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
    // Short lives: what the optimizing compiler would cost never pays.
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

  /// Waits until it holds; false where the launcher ended or the time passed before.
  boolean await(BooleanSupplier condition, Duration limit) {
    long end = System.nanoTime() + Span.nanos(limit);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0 || !launcher.isAlive()) {
        return condition.getAsBoolean();
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return true;
  }

  /// Whether the launcher ended in time.
  boolean awaitEnd(Duration limit) throws InterruptedException {
    return launcher.waitFor(Span.millis(limit), TimeUnit.MILLISECONDS);
  }

  /// Once it has ended.
  int exitCode() {
    return launcher.exitValue();
  }

  /// What the launcher printed as its own: lines that begin with `weft:`.
  List<String> launcherLines() {
    return lines(directory.resolve("stderr")).filter(line -> line.startsWith("weft:")).toList();
  }

  /// What a rank printed, standard output first.
  List<String> rankLines(int rank) {
    Path files = directory.resolve("ranks").resolve("rank." + rank);
    return Stream.concat(lines(files.resolve("stdout")), lines(files.resolve("stderr"))).toList();
  }

  /// The exit code that the launcher noted for a rank; -1 where it noted none.
  int rankExitCode(int rank) {
    Path file = directory.resolve("ranks").resolve("rank." + rank).resolve("exit");
    return lines(file).findFirst().map(line -> Integer.parseInt(line.strip())).orElse(-1);
  }

  /// Whether any rank printed a line with this.
  boolean anyRankPrinted(Pattern pattern, int ranks) {
    for (int rank = 0; rank < ranks; rank++) {
      if (rankLines(rank).stream().anyMatch(line -> pattern.matcher(line).find())) {
        return true;
      }
    }
    return false;
  }

  /// Names of files that it left where it keeps temporary ones.
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
