// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.perf.process.PerfException;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/// The commands of a reproduction. Each distinct command runs once, and rows share its report or
/// its failure. Confined to one thread.
final class WeftRuns {

  /// The time below which no further command starts.
  private static final Duration LEAST = Duration.ofSeconds(12);

  private final Starter starter;
  private final ReproductionMode mode;
  private final Duration limit;
  private final Consumer<String> progress;
  private final LongSupplier clock;
  private final long end;
  private final Map<WeftRun, RunReport> reports = new HashMap<>();
  private final Map<WeftRun, PerfException> failures = new HashMap<>();

  /// Runs commands.
  @FunctionalInterface
  interface Starter {
    /// Runs a command to its end, at most for `limit`. Throws `PerfException`.
    RunReport run(WeftRun run, Duration limit) throws InterruptedException;
  }

  /// The time of the mode is used up.
  static final class OutOfTime extends RuntimeException {
    private static final long serialVersionUID = 1L;

    OutOfTime(String message) {
      super(message);
    }
  }

  /// @param limit time limit of one command
  /// @param progress receives a line before each command
  /// @param clock nanoseconds, as `System.nanoTime`
  WeftRuns(
      Starter starter,
      ReproductionMode mode,
      Duration limit,
      Consumer<String> progress,
      LongSupplier clock) {
    this.starter = starter;
    this.mode = mode;
    this.limit = limit;
    this.progress = progress;
    this.clock = clock;
    this.end = clock.getAsLong() + ClampedDuration.nanos(mode.budget());
  }

  /// Returns the report of a command, which runs now unless it has run before. Throws
  /// `PerfException` if it has failed, and `OutOfTime` if too little time is left.
  RunReport report(WeftRun run) throws InterruptedException {
    RunReport known = reports.get(run);
    if (known != null) {
      return known;
    }
    PerfException failed = failures.get(run);
    if (failed != null) {
      throw failed;
    }
    Duration left = Duration.ofNanos(end - clock.getAsLong());
    if (left.compareTo(LEAST) < 0) {
      throw outOfTime();
    }
    progress.accept(run.text());
    try {
      RunReport report = starter.run(run, left.compareTo(limit) < 0 ? left : limit);
      reports.put(run, report);
      return report;
    } catch (PerfException refused) {
      if (left.compareTo(limit) < 0 && end - clock.getAsLong() <= 0) {
        throw outOfTime();
      }
      failures.put(run, refused);
      throw refused;
    }
  }

  private OutOfTime outOfTime() {
    return new OutOfTime(
        "Not measured: the %d s of --%s were used up; the same command continues here"
            .formatted(mode.budget().toSeconds(), mode.word()));
  }
}
