// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import io.weft.testkit.sim.FaultScript;
import io.weft.testkit.sim.SimFault;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/// A parameter server with mirrors and the faults that strike it. The seed determines both. Servers
/// are the first ranks. A server may be lost by a crash, by a pause or partition that is longer
/// than the silence limit, or by a cut connection; another process may then take its place. Workers
/// may be lost too.
///
/// @param seed of the job
/// @param servers number of servers, at least 2
/// @param workers number of workers, at least 1
/// @param shards number of shards
/// @param content the tables
/// @param end the moment at which the workers end
/// @param script the faults
/// @param harm the ranks that may fail
record FaultyJob(
    long seed,
    int servers,
    int workers,
    int shards,
    Content content,
    Duration end,
    FaultScript script,
    Harm harm) {

  /// The time without any byte after which a rank is lost.
  static final Duration SILENCE = Duration.ofMillis(60);

  /// The time within which all ranks have joined and the workers have begun.
  private static final long JOINED_NANOS = 10_000_000;

  /// The time within which a loss is noticed and the shards are copied to another server.
  private static final long MENDED_NANOS = 140_000_000;

  /// The length in milliseconds of a pause or delay that must not cause a loss.
  private static final int MOST_HOLD = 15;

  private static final long MILLI = 1_000_000;
  private static final int MOST_LOSSES = 3;

  /// The tables of a job.
  ///
  /// @param rows number of rows that the workers push
  /// @param width values of a row
  /// @param isSynchronous whether the workers also push to a synchronous table
  /// @param idleRows rows that are pushed once, which prolong the copies of a shard
  record Content(int rows, int width, boolean isSynchronous, int idleRows) {}

  /// The ranks that the faults harm.
  ///
  /// @param ranks the ranks that may fail
  /// @param losesShards whether a shard may lose its primary and its mirror
  record Harm(Set<Integer> ranks, boolean losesShards) {}

  /// Returns the number of ranks at the beginning.
  int ranks() {
    return servers + workers;
  }

  /// Returns the job of a seed.
  static FaultyJob of(long seed) {
    var random = new SplittableRandom(seed);
    int servers = 2 + random.nextInt(3);
    int workers = 1 + random.nextInt(3);
    int shards = servers * (1 + random.nextInt(2));
    var content =
        new Content(
            4 + random.nextInt(40),
            1 + random.nextInt(random.nextInt(4) == 0 ? 200 : 3),
            random.nextInt(3) == 0,
            random.nextInt(3) == 0 ? random.nextInt(3000) : 0);
    var drawn = new Drawn(random, servers, workers);
    drawn.losses();
    drawn.others();
    return new FaultyJob(
        seed,
        servers,
        workers,
        shards,
        content,
        Duration.ofNanos(drawn.last + 20 * MILLI),
        new FaultScript(drawn.faults),
        new Harm(Set.copyOf(drawn.harmed), drawn.losesShards));
  }

  /// The faults of one job while they are drawn.
  private static final class Drawn {
    private final RandomGenerator random;
    private final int servers;
    private final int ranks;
    private final List<SimFault> faults = new ArrayList<>();
    private final Set<Integer> harmed = new TreeSet<>();
    private final List<Integer> alive;
    private boolean losesShards;

    /// The moment from which the job is undisturbed.
    private long last = JOINED_NANOS;

    Drawn(RandomGenerator random, int servers, int workers) {
      this.random = random;
      this.servers = servers;
      this.ranks = servers + workers;
      this.alive = new ArrayList<>(IntStream.range(0, servers).boxed().toList());
    }

    private static Duration at(long nanos) {
      return Duration.ofNanos(nanos);
    }

    private long millis(int least, int most) {
      return MILLI * least + random.nextLong(MILLI * (most - least));
    }

    /// Draws the losses of servers. Between two losses the shards are copied, unless the job may
    /// lose shards. Other processes take the places one by one, or all at the end.
    void losses() {
      boolean hasty = random.nextInt(5) == 0;
      boolean together = !hasty && random.nextInt(3) == 0;
      List<Integer> absent = new ArrayList<>();
      int losses = together ? MOST_LOSSES : 1 + random.nextInt(MOST_LOSSES);
      long when = JOINED_NANOS + millis(0, 25);
      for (int i = 0; i < losses && alive.size() > 1; i++) {
        int rank = alive.remove(random.nextInt(alive.size()));
        long over = lose(rank, when);
        lateNews(rank, when);
        if (together) {
          absent.add(rank);
        } else if (random.nextInt(3) > 0) {
          over += millis(hasty ? 0 : 75, 110);
          faults.add(new SimFault.Restart(at(over), rank, SimFault.Memory.NOTHING));
          alive.add(rank);
        }
        last = Math.max(last, over + MENDED_NANOS);
        when = hasty ? when + millis(0, 80) : last + millis(0, 30);
      }
      losesShards = hasty && losses > 1;
      if (!absent.isEmpty()) {
        returnTogether(absent);
      }
    }

    /// Adds processes that take the places of lost servers within a few milliseconds, while bytes
    /// of one of the other servers are late to some of them. A replica set of that server may then
    /// arrive after a later one of another server.
    private void returnTogether(List<Integer> lost) {
      long when = last + millis(0, 30);
      for (int rank : lost) {
        faults.add(new SimFault.Restart(at(when + millis(0, 2)), rank, SimFault.Memory.NOTHING));
      }
      int slow = alive.get(random.nextInt(alive.size()));
      Duration length = at(millis(20, 80));
      for (int to = 0; to < servers; to++) {
        if (to != slow) {
          long extra = random.nextBoolean() ? millis(0, 2) : millis(8, MOST_HOLD);
          faults.add(new SimFault.Delay(at(when), length, slow, to, at(extra)));
        }
      }
      last = when + MENDED_NANOS;
    }

    /// Adds the loss of a server. Returns the moment from which another process may take its place.
    private long lose(int rank, long when) {
      harmed.add(rank);
      switch (random.nextInt(6)) {
        case 0 -> faults.add(new SimFault.HostCrash(at(when), rank));
        case 1 -> {
          long length = millis(75, 160);
          faults.add(new SimFault.Pause(at(when), at(length), rank));
          return when + length;
        }
        case 2 -> {
          long length = millis(75, 160);
          SimFault.Direction way =
              random.nextBoolean() ? SimFault.Direction.BOTH : SimFault.Direction.OUTWARD;
          faults.add(new SimFault.Partition(at(when), at(length), Set.of(rank), way, at(length)));
          return when + length;
        }
        default -> faults.add(new SimFault.Crash(at(when), rank));
      }
      return when;
    }

    /// Delays the bytes to some ranks, which hear of a loss later than others.
    private void lateNews(int rank, long when) {
      for (int i = random.nextInt(4); i > 0; i--) {
        int from = random.nextBoolean() ? rank : random.nextInt(ranks);
        int to = random.nextInt(ranks);
        if (from != to) {
          faults.add(
              new SimFault.Delay(
                  at(Math.max(JOINED_NANOS, when - millis(0, 10))),
                  at(millis(5, 80)),
                  from,
                  to,
                  at(millis(0, MOST_HOLD))));
        }
      }
    }

    /// Draws pauses that are shorter than the silence limit, and losses of workers.
    void others() {
      for (int i = random.nextInt(3); i > 0; i--) {
        long when = JOINED_NANOS + random.nextLong(last);
        faults.add(new SimFault.Pause(at(when), at(millis(0, MOST_HOLD)), random.nextInt(ranks)));
      }
      if (ranks - servers > 1 && random.nextInt(4) == 0) {
        int worker = servers + random.nextInt(ranks - servers);
        harmed.add(worker);
        faults.add(new SimFault.Crash(at(JOINED_NANOS + random.nextLong(last)), worker));
      }
    }
  }

  /// Returns the faults as text.
  @Override
  public String toString() {
    return "seed %d: %d servers, %d workers, %d shards, %s, until %d ms, faults %s"
        .formatted(
            seed, servers, workers, shards, content, ClampedDuration.millis(end), script.faults());
  }
}
