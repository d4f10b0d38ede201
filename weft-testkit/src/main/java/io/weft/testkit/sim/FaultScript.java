// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.random.RandomGenerator;

/// The faults of one run. Immutable.
///
/// @param faults in any order
public record FaultScript(List<SimFault> faults) {

  /// A script without faults.
  public static final FaultScript NONE = new FaultScript(List.of());

  /// Copies the list.
  public FaultScript {
    faults = List.copyOf(faults);
  }

  /// The parameters of random scripts.
  ///
  /// @param ranks of the simulation, at least 2
  /// @param hosts of the simulation
  /// @param horizon the time until which faults begin
  /// @param longest the longest duration of a fault
  /// @param kinds to draw from
  public record Scene(
      int ranks, int hosts, Duration horizon, Duration longest, List<SimFaultKind> kinds) {
    /// Copies the list.
    public Scene {
      Objects.requireNonNull(horizon, "horizon");
      Objects.requireNonNull(longest, "longest");
      kinds = List.copyOf(kinds);
    }
  }

  /// The kinds of random faults.
  public enum SimFaultKind {
    /// See `SimFault.Delay`.
    DELAY,
    /// See `SimFault.Slow`.
    SLOW,
    /// See `SimFault.Pause`.
    PAUSE,
    /// See `SimFault.Crash`.
    CRASH,
    /// See `SimFault.HostCrash`.
    HOST_CRASH,
    /// A crash followed later by a new process of the rank.
    RESTART,
    /// See `SimFault.Partition`; of one or two ranks, in any direction.
    PARTITION,
    /// See `SimFault.Cut`.
    CUT,
    /// See `SimFault.ClockJump`.
    CLOCK_JUMP
  }

  /// Returns a script of `number` random faults; equal seeds give equal scripts.
  public static FaultScript random(long seed, Scene scene, int number) {
    RandomGenerator random = new SplittableRandom(seed);
    FaultScript script = NONE;
    for (int i = 0; i < number; i++) {
      script = draw(random, scene, script);
    }
    return script;
  }

  private static FaultScript draw(RandomGenerator random, Scene scene, FaultScript script) {
    Duration at = part(random, scene.horizon());
    Duration length = part(random, scene.longest());
    int rank = random.nextInt(scene.ranks());
    int other = (rank + 1 + random.nextInt(scene.ranks() - 1)) % scene.ranks();
    return switch (scene.kinds().get(random.nextInt(scene.kinds().size()))) {
      case DELAY ->
          script.and(new SimFault.Delay(at, length, rank, other, part(random, scene.longest())));
      case SLOW -> {
        Duration cycle = Duration.ofNanos(1L << random.nextInt(10, 26));
        yield script.and(new SimFault.Slow(at, length, rank, cycle));
      }
      case PAUSE -> script.and(new SimFault.Pause(at, length, rank));
      case CRASH -> script.and(new SimFault.Crash(at, rank));
      case HOST_CRASH -> script.and(new SimFault.HostCrash(at, random.nextInt(scene.hosts())));
      case RESTART -> {
        SimFault.Memory memory =
            random.nextBoolean() ? SimFault.Memory.NOTHING : SimFault.Memory.FIRST_TOPOLOGY;
        yield script
            .and(new SimFault.Crash(at, rank))
            .and(new SimFault.Restart(at.plus(length), rank, memory));
      }
      case PARTITION -> {
        SimFault.Direction[] ways = SimFault.Direction.values();
        SimFault.Direction way = ways[random.nextInt(ways.length)];
        Duration reset = random.nextBoolean() ? length : part(random, length);
        yield script.and(
            new SimFault.Partition(at, length, few(random, scene, rank, other), way, reset));
      }
      case CUT -> script.and(new SimFault.Cut(at, rank, other));
      case CLOCK_JUMP -> script.and(new SimFault.ClockJump(at, rank, length));
    };
  }

  private static Set<Integer> few(RandomGenerator random, Scene scene, int rank, int other) {
    Set<Integer> ranks = new TreeSet<>(Set.of(rank));
    if (scene.ranks() > 3 && random.nextBoolean()) {
      ranks.add(other);
    }
    return ranks;
  }

  private static Duration part(RandomGenerator random, Duration most) {
    return Duration.ofNanos(random.nextLong(Math.max(1, ClampedDuration.nanos(most))));
  }

  /// Returns this script with one more fault.
  public FaultScript and(SimFault fault) {
    List<SimFault> more = new ArrayList<>(faults);
    more.add(fault);
    return new FaultScript(more);
  }
}
