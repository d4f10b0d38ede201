// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.kv.frame.ClockWindow;
import io.weft.kv.spec.Consistency;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Checks which pulls may be answered, in random schedules. The messages of a worker to a shard
/// arrive late but in order.
class ClocksTest {

  private static final int WORKERS = 16;
  private static final int SHARDS = 8;
  private static final int STEPS = 12;

  /// A shard with its clocks and with the count of pushes that each worker has sent to it.
  private static final class SimulatedShard {
    private final Clocks clocks;
    private final int[] pushed = new int[WORKERS];

    SimulatedShard(int staleness) {
      clocks = new Clocks(WORKERS, staleness);
    }
  }

  @Test
  void noPullIsStalerThanItsBoundInAThousandSchedules() {
    for (int seed = 0; seed < 1000; seed++) {
      var random = new Random(seed);
      int staleness = 1 + random.nextInt(4);
      assertThat(finishesWithin(staleness, random)).as("seed %d", seed).isTrue();
    }
  }

  /// Returns whether all workers complete a random schedule. Each worker pushes to all shards,
  /// advances its clock there and pulls from all. Messages are delivered in random order of workers
  /// and shards.
  private static boolean finishesWithin(int staleness, Random random) {
    List<SimulatedShard> shards =
        IntStream.range(0, SHARDS).mapToObj(it -> new SimulatedShard(staleness)).toList();
    int[] clock = new int[WORKERS];
    int[][] arrived = new int[WORKERS][SHARDS];
    boolean[][] pulled = new boolean[WORKERS][SHARDS];
    int done = 0;
    int idle = 0;
    while (done < WORKERS && idle < 100_000) {
      int worker = random.nextInt(WORKERS);
      int at = random.nextInt(SHARDS);
      SimulatedShard shard = shards.get(at);
      if (clock[worker] == STEPS || pulled[worker][at]) {
        idle++;
        continue;
      }
      if (arrived[worker][at] == clock[worker]) {
        arrived[worker][at]++;
        shard.pushed[worker]++;
        shard.clocks.advance(worker, arrived[worker][at]);
      } else if (shard.clocks.lets(clock[worker] + 1)) {
        for (int other = 0; other < WORKERS; other++) {
          assertThat(shard.pushed[other])
              .as("pushes of %d that %d sees at clock %d", other, worker, clock[worker] + 1)
              .isGreaterThanOrEqualTo(clock[worker] + 1 - staleness);
        }
        pulled[worker][at] = true;
        idle = 0;
      } else {
        idle++;
      }
      if (IntStream.range(0, SHARDS).allMatch(it -> pulled[worker][it])) {
        pulled[worker] = new boolean[SHARDS];
        clock[worker]++;
        done += clock[worker] == STEPS ? 1 : 0;
      }
    }
    return done == WORKERS;
  }

  @Test
  void theSlowestClockEqualsThatOfAModelAsWorkersAdvanceAndLeave() {
    for (int seed = 0; seed < 100; seed++) {
      var random = new Random(seed);
      var clocks = new Clocks(WORKERS, 1);
      long[] model = new long[WORKERS];
      for (int step = 0; step < 400; step++) {
        int worker = random.nextInt(WORKERS);
        if (random.nextInt(50) == 0) {
          clocks.leave(worker);
          model[worker] = Long.MAX_VALUE;
        } else {
          long clock = random.nextInt(1 + step / WORKERS);
          clocks.advance(worker, clock);
          model[worker] = Math.max(model[worker], clock);
        }
        long expected = Arrays.stream(model).min().orElseThrow();
        assertThat(clocks.slowest()).as("seed %d, step %d", seed, step).isEqualTo(expected);
      }
    }
  }

  @Test
  void aWorkerThatHasLeftDelaysNoOtherWorker() {
    var clocks = new Clocks(3, 1);
    clocks.advance(0, 5);
    clocks.advance(1, 4);
    assertThat(clocks.lets(1)).isTrue();
    assertThat(clocks.lets(2)).isFalse();
    clocks.leave(2);
    assertThat(clocks.lets(5)).isTrue();
    assertThat(clocks.lets(6)).isFalse();
    clocks.advance(1, 1);
    assertThat(clocks.slowest()).isEqualTo(4);
  }

  @Test
  void pushesOfAClockAreTakenTogetherInTheOrderOfWorkers() {
    var rounds = new PushRounds<String>(3, Consistency.synchronous());
    assertThat(rounds.keep(2, 1, "c1")).isNull();
    assertThat(rounds.keep(0, 1, "a1")).isNull();
    assertThat(rounds.takeComplete()).isNull();
    assertThat(rounds.keep(0, 2, "a2")).isNull();
    assertThat(rounds.place(1 + ClockWindow.CLOCKS)).isEqualTo(PushRounds.Place.EARLY);
    assertThat(rounds.keep(1, 1, "b1")).isNull();
    assertThat(rounds.lets(1)).isFalse();
    assertThat(rounds.takeComplete()).containsExactly("a1", "b1", "c1");
    assertThat(rounds.lets(1)).isTrue();
    assertThat(rounds.place(1)).isEqualTo(PushRounds.Place.LATE);
    assertThat(rounds.takeComplete()).isNull();
    rounds.leave(1);
    rounds.leave(2);
    assertThat(rounds.takeComplete()).containsExactly("a2");
    assertThat(rounds.applied()).isEqualTo(2);
  }

  @Test
  void backupWorkersAreNotAwaitedAndTheirPushesAreDropped() {
    var rounds = new PushRounds<String>(3, Consistency.backedUpBy(1));
    assertThat(rounds.keep(1, 1, "b1")).isNull();
    assertThat(rounds.takeComplete()).isNull();
    assertThat(rounds.keep(2, 1, "c1")).isNull();
    assertThat(rounds.takeComplete()).containsExactly("b1", "c1");
    assertThat(rounds.place(1)).isEqualTo(PushRounds.Place.LATE);
    rounds.drop();
    assertThat(rounds.dropped()).isEqualTo(1);
  }

  @Test
  void aPushIsNewExactlyOnceInAnyOrder() {
    for (int seed = 0; seed < 100; seed++) {
      var random = new Random(seed);
      var window = new NumberWindow();
      List<Long> open = new ArrayList<>();
      boolean[] seen = new boolean[20_001];
      long next = 1;
      while (next <= 20_000) {
        if (open.size() < 500 && random.nextInt(3) > 0) {
          open.add(next++);
        }
        if (open.isEmpty()) {
          continue;
        }
        int at = random.nextInt(Math.min(open.size(), 40));
        long number = open.get(at);
        long settled = open.getFirst();
        assertThat(window.isNew(number, settled))
            .as("seed %d, push %d", seed, number)
            .isEqualTo(!seen[(int) number]);
        seen[(int) number] = true;
        if (random.nextBoolean()) {
          open.remove(at);
        }
      }
    }
  }
}
