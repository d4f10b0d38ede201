// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import io.weft.cluster.LaunchEnvironment;
import io.weft.launch.process.CleanupShell;
import io.weft.launch.process.JobProcesses;
import io.weft.launch.process.LocalStart;
import io.weft.launch.process.OutputLines;
import io.weft.launch.process.Programs;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// A running program whose output is collected. Its processes end when it is closed or when this
/// JVM ends. Confined to one thread except for `exited`.
public final class Child implements AutoCloseable {

  private static final int ERROR_LINES_KEPT = 20;
  private static final Duration GRACE = Duration.ofSeconds(3);

  /// The variables by which a launcher gives a rank its number, which are not passed on to
  /// grandchildren.
  private static final List<String> RANK_VARIABLES = List.of("OMPI_", "PMIX_", "PMI_", "WEFT_");

  private final String name;
  private final Process process;
  private final JobProcesses all;
  private final CleanupShell watch;
  private final Thread atExit;
  private final OutputLines out;
  private final OutputLines err;

  private Child(String name, Process process, String mark, CleanupShell watch) {
    this.name = name;
    this.process = process;
    this.all = new JobProcesses(mark, List.of(process));
    this.watch = watch;
    this.atExit = new Thread(this::end, "end-" + process.pid());
    watch.began(process.pid());
    this.out = OutputLines.of(process.inputReader(), Integer.MAX_VALUE);
    this.err = OutputLines.of(process.errorReader(), ERROR_LINES_KEPT);
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /// Starts `command` in the environment of this process without the variables that make it a rank,
  /// plus `variables`. Throws `PerfException.Failed` if it cannot be started.
  public static Child start(List<String> command, Map<String, String> variables) {
    String program = command.getFirst();
    if (program.contains("/")
        ? !Files.isExecutable(Path.of(program))
        : Programs.find(program).isEmpty()) {
      throw new PerfException.Failed("cannot start " + program + ": there is no such executable");
    }
    Set<String> outside = LaunchEnvironment.outside(System.getenv()).keySet();
    List<String> removed =
        System.getenv().keySet().stream()
            .filter(
                name ->
                    !outside.contains(name) || RANK_VARIABLES.stream().anyMatch(name::startsWith))
            .toList();
    String mark = UUID.randomUUID().toString();
    Map<String, String> marked = new HashMap<>(variables);
    marked.put(CleanupShell.VARIABLE, mark);
    // The cleanup shell starts before the program because this process may be ended at any moment.
    CleanupShell watch = CleanupShell.start(mark, Optional.empty());
    try {
      String name = Path.of(program).getFileName().toString();
      return new Child(name, new LocalStart().start(command, marked, removed), mark, watch);
    } catch (IOException e) {
      watch.close();
      throw new PerfException.Failed("cannot start " + program + ": " + IoErrors.words(e), e);
    }
  }

  /// Starts a program and waits for its end.
  public static ChildOutput run(List<String> command, Duration limit) throws InterruptedException {
    return run(command, Map.of(), limit);
  }

  /// Starts a program with additional `variables` and waits for its end.
  public static ChildOutput run(List<String> command, Map<String, String> variables, Duration limit)
      throws InterruptedException {
    try (Child child = start(command, variables)) {
      return child.await(limit);
    }
  }

  /// Returns a future that completes when the program has ended. Any thread may call it.
  public CompletableFuture<Process> exited() {
    return process.onExit();
  }

  /// Waits for the program's end, at most for `within`. Returns true if it has ended.
  public boolean hasEnded(Duration within) throws InterruptedException {
    return process.waitFor(ClampedDuration.millis(within), TimeUnit.MILLISECONDS);
  }

  /// Returns the lines of its standard output up to now.
  public List<String> out() {
    return out.soFar();
  }

  /// Blocks until the program ends. Throws `PerfException.Failed` after `limit`.
  public ChildOutput await(Duration limit) throws InterruptedException {
    if (!process.waitFor(ClampedDuration.millis(limit), TimeUnit.MILLISECONDS)) {
      throw new PerfException.Failed(
          "%s was still running after %d s; measure less, or raise --limit"
              .formatted(name, limit.toSeconds()));
    }
    if (!out.hasEnded(GRACE) || !err.hasEnded(GRACE)) {
      throw new PerfException.Failed(name + " ended, but its output is still open");
    }
    return new ChildOutput(process.exitValue(), out.soFar(), err.soFar());
  }

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // The JVM is ending. The hook repeats the cleanup.
    }
  }

  /// Requests the end of the process and its descendants, then kills those that remain.
  private void end() {
    try {
      all.end(GRACE);
    } catch (InterruptedException hurried) {
      all.kill();
      Thread.currentThread().interrupt();
    }
    watch.close();
  }

  /// The output and exit status of a program.
  ///
  /// @param exit exit status
  /// @param out all lines of its standard output
  /// @param err the last lines of its standard error
  public record ChildOutput(int exit, List<String> out, List<String> err) {

    /// Returns the last lines of standard error for messages.
    public String lastWords() {
      return err.isEmpty() ? "it printed no error" : String.join("\n", err);
    }
  }
}
