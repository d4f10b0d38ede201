// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.turns;

import io.weft.launch.perf.process.PerfException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/// Runs contestants at the same time, of which one works while the others wait. Each starts when
/// its first turn comes. Whoever never takes its seat has one turn, to its end.
public final class TurnTable {

  private TurnTable() {}

  /// A contestant.
  ///
  /// @param <T> what it gives in the end
  @FunctionalInterface
  public interface Player<T> {

    /// Runs to its end, on a thread of its own, taking turns at `socket` as `Turns` does. When
    /// interrupted it ends what it has started.
    T play(Path socket) throws InterruptedException;
  }

  /// What happens while nobody works.
  @FunctionalInterface
  public interface Interlude {

    /// Before each series of turns, the first of which is 1. What it throws ends all players.
    void before(int series) throws InterruptedException;
  }

  /// Blocks until all players have ended, gives what they give, in their order. If one fails the
  /// others are ended, and what it threw is thrown. Throws `PerfException.Failed` where no socket
  /// can be had.
  public static <T> List<T> play(List<Player<T>> players, Interlude interlude)
      throws InterruptedException {
    List<Place<T>> places = new ArrayList<>();
    try (ExecutorService threads =
        Executors.newThreadPerTaskExecutor(Thread.ofPlatform().name("weft-perf-", 0).factory())) {
      Path directory = Files.createTempDirectory("weft-perf-");
      directory.toFile().deleteOnExit(); // should this process be ended meanwhile
      try {
        for (Player<T> player : players) {
          Seat seat = new Seat(directory.resolve(Integer.toString(places.size())));
          places.add(new Place<>(seat, player));
        }
        series(places, threads, interlude);
        return results(places);
      } finally {
        threads.shutdownNow();
        for (Place<T> place : places) {
          place.seat.close();
        }
        Files.deleteIfExists(directory);
      }
    } catch (IOException e) {
      throw new PerfException.Failed(
          "ranks cannot take turns by a socket in %s: %s"
              .formatted(System.getProperty("java.io.tmpdir"), e),
          e);
    }
  }

  private static <T> void series(
      List<Place<T>> places, ExecutorService threads, Interlude interlude)
      throws InterruptedException, IOException {
    List<Place<T>> left = new ArrayList<>(places);
    for (int series = 1; !left.isEmpty(); series++) {
      interlude.before(series);
      for (Place<T> place : List.copyOf(left)) {
        if (!place.turn(threads)) {
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

    private final Seat seat;
    private final Callable<T> program;
    private @Nullable Future<T> running;

    private Place(Seat seat, Player<T> player) {
      this.seat = seat;
      this.program =
          () -> {
            try (seat) {
              return player.play(seat.path());
            }
          };
    }

    /// False if it was the last one: then it has ended, and well.
    private boolean turn(ExecutorService threads) throws InterruptedException, IOException {
      if (running == null) {
        running = threads.submit(program);
      }
      if (seat.turn()) {
        return true;
      }
      seat.close();
      var unused = result();
      return false;
    }

    private T result() throws InterruptedException {
      try {
        return Objects.requireNonNull(running, "it has had a turn").get();
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RuntimeException failed) {
          throw failed;
        }
        throw new IllegalStateException("a contestant ended", e.getCause());
      }
    }
  }
}
