// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.StoreLocation;
import io.weft.perf.rank.Tiles;
import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks exercises of two ranks in this process, each on a thread.
final class ExerciseTest {

  private static final int ITERATIONS = 7;
  private static final long LIMIT_SECONDS = 60;

  private final String job = "exercise-" + UUID.randomUUID();
  private final ExecutorService threads = Executors.newFixedThreadPool(2);

  @AfterEach
  void end() {
    threads.shutdownNow();
  }

  /// The result of one rank: rank 0's times, and true if all of its received data was right.
  private record Outcome(long[] nanos, boolean right) {}

  private PeerLink open(int rank) throws InterruptedException {
    LaunchEnvironment launch =
        new LaunchEnvironment(
            "test",
            rank,
            2,
            OptionalInt.of(rank),
            OptionalInt.of(2),
            Optional.of(job),
            new StoreLocation.LocalDirectory());
    return PeerLink.open(launch, WeftConfig.builder().transport("inproc").build());
  }

  private Callable<Outcome> rank(int rank, BiFunction<PeerLink, Tiles, Exercise> of, long phase) {
    return () -> {
      try (Arena arena = Arena.ofConfined();
          PeerLink link = open(rank);
          Exercise exercise = of.apply(link, new Tiles(arena, 1))) {
        long[] nanos = {};
        if (rank == 0) {
          nanos = exercise.drive(phase, ITERATIONS);
          link.await(Signal.READY);
        } else {
          exercise.answer(phase, ITERATIONS);
          link.say(Signal.READY);
          link.awaitEnd();
        }
        return new Outcome(nanos, exercise.isRight());
      }
    };
  }

  /// Runs the exercise. Rank 1 expects the data of an iteration that differs from rank 0's by
  /// `lag`.
  private Outcome[] run(BiFunction<PeerLink, Tiles, Exercise> of, long lag)
      throws InterruptedException, ExecutionException, TimeoutException {
    Future<Outcome> zero = threads.submit(rank(0, of, 5));
    Future<Outcome> one = threads.submit(rank(1, of, 5 + lag));
    return new Outcome[] {
      zero.get(LIMIT_SECONDS, TimeUnit.SECONDS), one.get(LIMIT_SECONDS, TimeUnit.SECONDS)
    };
  }

  @ParameterizedTest
  @ValueSource(longs = {64, 65_536, 1 << 20})
  void repliesAreRight(long bytes) throws Exception {
    Outcome[] outcomes = run((link, tiles) -> new PingPong(link, tiles, bytes), 0);
    assertThat(outcomes[0].nanos()).hasSize(ITERATIONS);
    assertThat(outcomes[0].right()).isTrue();
    assertThat(outcomes[1].right()).isTrue();
  }

  @Test
  void writtenDataIsRight() throws Exception {
    Outcome[] outcomes = run((link, tiles) -> new Bandwidth(link, tiles, 1 << 20), 0);
    assertThat(outcomes[0].nanos()).hasSize(ITERATIONS);
    assertThat(outcomes[1].right()).isTrue();
  }

  @Test
  void writtenDataOfAnotherIterationIsWrong() throws Exception {
    Outcome[] outcomes = run((link, tiles) -> new Bandwidth(link, tiles, 4096), 1);
    assertThat(outcomes[1].right()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 256})
  void concurrentlyWrittenDataIsRight(int outstanding) throws Exception {
    Outcome[] outcomes = run((link, tiles) -> new Writes(link, tiles, 4100, outstanding, 50), 0);
    assertThat(outcomes[0].nanos()).hasSize(ITERATIONS).doesNotContain(0);
    assertThat(outcomes[1].right()).isTrue();
  }

  @Test
  void concurrentlyWrittenDataOfAnotherIterationIsWrong() throws Exception {
    Outcome[] outcomes = run((link, tiles) -> new Writes(link, tiles, 64, 7, 50), 1);
    assertThat(outcomes[1].right()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 256})
  void concurrentlyReadDataIsRight(int outstanding) throws Exception {
    Outcome[] outcomes = run((link, tiles) -> new Reads(link, tiles, 4100, outstanding, 50), 0);
    assertThat(outcomes[0].nanos()).hasSize(ITERATIONS).doesNotContain(0);
    assertThat(outcomes[0].right()).isTrue();
  }

  @Test
  void concurrentlyReadDataOfAnotherIterationIsWrong() throws Exception {
    Outcome[] outcomes = run((link, tiles) -> new Reads(link, tiles, 64, 7, 50), 1);
    assertThat(outcomes[0].right()).isFalse();
  }

  @Test
  void aBatchReusesSlotsOfBoundedMemory() {
    assertThat(Writes.slots(64, 128)).isEqualTo(128);
    assertThat(Writes.slots(1 << 20, 128)).isEqualTo(64);
    assertThat(Writes.slots(4L << 30, 128)).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 256})
  void everyRequestIsAnswered(int outstanding) throws Exception {
    Outcome[] outcomes = run((link, tiles) -> new Messages(link, 64, outstanding, 100), 0);
    assertThat(outcomes[0].nanos()).hasSize(ITERATIONS).doesNotContain(0);
    assertThat(outcomes[0].right()).isTrue();
    assertThat(outcomes[1].right()).isTrue();
  }
}
