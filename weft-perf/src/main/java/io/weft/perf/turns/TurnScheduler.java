// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.turns;

import io.weft.perf.process.PerfException;
import io.weft.transport.limit.ClampedDuration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Runs contestants as concurrent programs that work in turn, one at a time. Each starts with its
/// first turn. A contestant that never connects has one turn, which lasts until its end.
public final class TurnScheduler {

  /// The time for ending a contestant after its limit has expired or another contestant has failed.
  private static final Duration ENDING = Duration.ofSeconds(45);

  private TurnScheduler() {}

  /// A contestant.
  ///
  /// @param <T> its result
  @FunctionalInterface
  public interface Player<T> {

    /// Runs the contestant to its end on a separate thread. It takes turns at `socket` as `Turns`
    /// does. When interrupted it ends the programs it has started.
    T play(Path socket) throws InterruptedException;
  }

  /// The work between turns, while all contestants wait.
  @FunctionalInterface
  public interface Interruption {

    /// Runs before each series of turns. The first series is 1. An exception ends all players.
    void before(int series) throws InterruptedException;
  }

  /// Blocks until all players have ended and returns their results in their order. If a player
  /// fails, the others are ended and its exception is thrown. Throws `PerfException.Failed` if a
  /// socket cannot be created or a player does not end.
  ///
  /// @param limit the time after its start within which each player must end by itself
  public static <T> List<T> play(List<Player<T>> players, Duration limit, Interruption interruption)
      throws InterruptedException {
    return play(players, limit, ENDING, interruption);
  }

  static <T> List<T> play(
      List<Player<T>> players, Duration limit, Duration ending, Interruption interruption)
      throws InterruptedException {
    List<Place<T>> places = new ArrayList<>();
    ExecutorService threads =
        Executors.newThreadPerTaskExecutor(
            Thread.ofPlatform().daemon().name("weft-perf-", 0).factory());
    ScheduledExecutorService timer =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("weft-limit").factory());
    try {
      Path directory = Files.createTempDirectory("weft-perf-");
      directory.toFile().deleteOnExit(); // For the case that this process is ended first.
      try {
        for (Player<T> player : players) {
          TurnClient turnClient =
              new TurnClient(directory.resolve(Integer.toString(places.size())));
          places.add(new Place<>(turnClient, player, limit.plus(ending)));
        }
        series(places, threads, timer, interruption);
        return results(places);
      } finally {
        timer.shutdownNow();
        threads.shutdownNow();
        for (Place<T> place : places) {
          place.turnClient.close();
        }
        Files.deleteIfExists(directory);
      }
    } catch (IOException e) {
      throw new PerfException.Failed(
          "ranks cannot take turns by a socket in %s: %s"
              .formatted(System.getProperty("java.io.tmpdir"), e),
          e);
    } finally {
      // The remaining threads are daemons, which end with this process.
      var unused = threads.awaitTermination(ClampedDuration.millis(ending), TimeUnit.MILLISECONDS);
    }
  }

  private static <T> void series(
      List<Place<T>> places,
      ExecutorService threads,
      ScheduledExecutorService timer,
      Interruption interruption)
      throws InterruptedException, IOException {
    List<Place<T>> left = new ArrayList<>(places);
    for (int series = 1; !left.isEmpty(); series++) {
      interruption.before(series);
      for (Place<T> place : List.copyOf(left)) {
        if (!place.turn(threads, timer)) {
          left.remove(place);
        }
      }
    }
  }

  private static <T> List<T> results(List<Place<T>> places) throws InterruptedException {
    List<T> results = new ArrayList<>();
    for (Place<T> place : places) {
      results.add(place.result());
    }
    return results;
  }

  private static final class Place<T> {

    private final TurnClient turnClient;
    private final Callable<T> program;
    private final Duration limit;
    private @Nullable Future<T> running;
    private long begun;

    private Place(TurnClient turnClient, Player<T> player, Duration limit) {
      this.turnClient = turnClient;
      this.limit = limit;
      this.program =
          () -> {
            try (turnClient) {
              return player.play(turnClient.path());
            }
          };
    }

    /// Returns false if this was the last turn. Then the contestant has completed successfully.
    private boolean turn(ExecutorService threads, ScheduledExecutorService timer)
        throws InterruptedException, IOException {
      if (running == null) {
        begun = System.nanoTime();
        running = threads.submit(program);
        var unused =
            timer.schedule(this::leave, ClampedDuration.nanos(limit), TimeUnit.NANOSECONDS);
      }
      if (turnClient.turn()) {
        return true;
      }
      turnClient.close();
      var unused = result();
      return false;
    }

    /// Ends a turn that exceeds the limit.
    private void leave() {
      try {
        turnClient.close();
      } catch (IOException gone) {
        assert !gone.toString().isEmpty();
      }
    }

    private T result() throws InterruptedException {
      long left = Math.max(begun + ClampedDuration.nanos(limit) - System.nanoTime(), 0);
      Future<T> contestant = Objects.requireNonNull(running, "it has had a turn");
      try {
        return contestant.get(left, TimeUnit.NANOSECONDS);
      } catch (TimeoutException deaf) {
        throw new PerfException.Failed(
            "a contestant still ran %d s after its start, past its limit; look for its processes"
                .formatted(limit.toSeconds()),
            deaf);
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RuntimeException failed) {
          throw failed;
        }
        throw new IllegalStateException("a contestant failed", e.getCause());
      }
    }
  }
}
