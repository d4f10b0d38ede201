// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;

/// The report of a simulation.
///
/// @param seed that reproduces the run
/// @param outcomes of the ranks' first processes, in order of rank
/// @param restarts outcomes of the processes that faults started, in order
/// @param faults that happened
/// @param virtual time at which the last program ended, or the limit
/// @param trace of the events
public record SimReport<T>(
    long seed,
    List<RankResult<T>> outcomes,
    List<RankResult<T>> restarts,
    List<SimFault> faults,
    Duration virtual,
    Trace trace) {

  /// Copies the lists.
  public SimReport {
    outcomes = List.copyOf(outcomes);
    restarts = List.copyOf(restarts);
    faults = List.copyOf(faults);
  }

  /// The end of one process.
  public sealed interface RankResult<T> {

    /// Returns its rank.
    int rank();

    /// The program returned this value.
    record Returned<T>(int rank, T value) implements RankResult<T> {}

    /// The program threw this exception.
    record Threw<T>(int rank, Throwable cause) implements RankResult<T> {
      /// Throws `NullPointerException` if a component is null.
      public Threw {
        Objects.requireNonNull(cause, "cause");
      }
    }

    /// A fault killed the process.
    record Died<T>(int rank, String why) implements RankResult<T> {
      /// Throws `NullPointerException` if a component is null.
      public Died {
        Objects.requireNonNull(why, "why");
      }
    }

    /// The program had not ended at the simulation's limit.
    ///
    /// @param where the place and duration of its wait
    record Hung<T>(int rank, String where) implements RankResult<T> {
      /// Throws `NullPointerException` if a component is null.
      public Hung {
        Objects.requireNonNull(where, "where");
      }
    }
  }

  /// Returns the ranks' results, in order. Throws `AssertionError` with `summary` if one did not
  /// return.
  public List<T> values() {
    return outcomes.stream()
        .map(
            outcome -> {
              if (outcome instanceof RankResult.Returned<T>(int rank, T value)) {
                return value;
              }
              throw failed();
            })
        .toList();
  }

  private AssertionError failed() {
    AssertionError error = new AssertionError(summary());
    for (RankResult<T> outcome : outcomes) {
      if (outcome instanceof RankResult.Threw<T>(int rank, Throwable cause)) {
        error.addSuppressed(cause);
      }
    }
    return error;
  }

  /// Returns the processes that had not ended at the limit.
  public List<RankResult.Hung<T>> hung() {
    return java.util.stream.Stream.concat(outcomes.stream(), restarts.stream())
        .filter(RankResult.Hung.class::isInstance)
        .map(outcome -> (RankResult.Hung<T>) outcome)
        .toList();
  }

  /// Returns seed, faults and the outcome of each rank, one line each.
  public String summary() {
    return String.format(
            Locale.ROOT,
            "simulation of %d ranks, seed %d, %.6f s of virtual time, %d events, hash %s%n",
            outcomes.size(),
            seed,
            ClampedDuration.nanos(virtual) / 1e9,
            trace.events(),
            trace.hash())
        + faults.stream().map(fault -> "  " + fault + "\n").collect(Collectors.joining())
        + outcomes.stream().map(SimReport::line).collect(Collectors.joining())
        + restarts.stream().map(o -> "  again:" + line(o)).collect(Collectors.joining());
  }

  private static <T> String line(RankResult<T> outcome) {
    String what =
        switch (outcome) {
          case RankResult.Returned<T>(int rank, T value) -> "returned " + value;
          case RankResult.Threw<T>(int rank, Throwable cause) -> "threw " + cause;
          case RankResult.Died<T>(int rank, String why) -> "died: " + why;
          case RankResult.Hung<T>(int rank, String where) -> "hangs: " + where;
        };
    return "  rank " + outcome.rank() + " " + what + "\n";
  }
}
