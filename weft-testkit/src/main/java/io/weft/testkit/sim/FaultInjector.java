// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.testkit.sim.clock.EventQueue;
import io.weft.testkit.sim.clock.ScheduledEvent;
import io.weft.testkit.sim.network.Journal.What;
import io.weft.testkit.sim.network.Network;
import io.weft.transport.limit.ClampedDuration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/// The injector of a script's faults.
final class FaultInjector {

  /// The longest pause before a sender whose bytes were not acknowledged retransmits them.
  private static final long RETRANSMISSION_NANOS = 400_000_000;

  private final SimRun<?> world;
  private final EventQueue events;
  private final Network network;
  private final RandomGenerator random;
  private final List<SimFault> struck = new ArrayList<>();

  FaultInjector(SimRun<?> world, RandomGenerator random) {
    this.world = world;
    this.events = world.events();
    this.network = world.network();
    this.random = random;
  }

  List<SimFault> struck() {
    return struck;
  }

  void prepare(SimFault fault) {
    at(ClampedDuration.nanos(fault.at()), () -> strike(fault));
  }

  private void at(long nanos, Runnable action) {
    events.at(
        nanos,
        new ScheduledEvent() {
          @Override
          protected void happen() {
            action.run();
          }
        });
  }

  private void after(java.time.Duration length, Runnable action) {
    at(events.now() + ClampedDuration.nanos(length), action);
  }

  private void strike(SimFault fault) {
    struck.add(fault);
    world.say(What.FAULT, world.present(rankOf(fault)), fault.toString());
    switch (fault) {
      case SimFault.Delay slowed -> {
        Network.DelayRule rule =
            new Network.DelayRule(
                slowed.from(), slowed.to(), ClampedDuration.nanos(slowed.extra()));
        network.thicken(rule);
        after(slowed.length(), () -> network.clear(rule));
      }
      case SimFault.Slow slow -> {
        SimProcess process = world.present(slow.rank());
        long usual = world.terms().pace().cycleNanos();
        process.setCycle(ClampedDuration.nanos(slow.cycle()));
        after(slow.length(), () -> process.setCycle(usual));
      }
      case SimFault.Pause pause ->
          world
              .present(pause.rank())
              .stopUntil(events.now() + ClampedDuration.nanos(pause.length()));
      case SimFault.Crash crash -> {
        Network.Death death = random.nextBoolean() ? Network.Death.CLOSED : Network.Death.RESET;
        kill(world.present(crash.rank()), death, fault.toString());
      }
      case SimFault.HostCrash crash -> {
        for (int rank = 0; rank < world.terms().ranks(); rank++) {
          if (world.terms().hostOf(rank) == crash.host()) {
            kill(world.present(rank), Network.Death.SILENT, fault.toString());
          }
        }
      }
      case SimFault.Restart restart -> world.restart(restart.rank(), restart.memory());
      case SimFault.Partition partition -> divide(partition);
      case SimFault.Cut cut -> network.snapNext(cut.from(), cut.to(), random.nextDouble());
      case SimFault.ClockJump jump ->
          world.present(jump.rank()).skew(ClampedDuration.nanos(jump.by()));
    }
  }

  private void kill(SimProcess process, Network.Death death, String why) {
    if (!process.isDead()) {
      network.kill(process, death);
      process.die(why);
    }
  }

  private void divide(SimFault.Partition partition) {
    BitSet inside = new BitSet();
    partition.ranks().forEach(inside::set);
    BitSet outside = new BitSet();
    outside.set(0, world.terms().ranks());
    outside.andNot(inside);
    List<Network.Wall> walls = new ArrayList<>();
    if (partition.direction() != SimFault.Direction.INWARD) {
      walls.add(new Network.Wall(inside, outside));
    }
    if (partition.direction() != SimFault.Direction.OUTWARD) {
      walls.add(new Network.Wall(outside, inside));
    }
    walls.forEach(network::raise);
    if (partition.resetAfter().compareTo(partition.length()) < 0) {
      after(partition.resetAfter(), network::giveUpHeld);
    }
    after(
        partition.length(),
        () -> walls.forEach(wall -> network.remove(wall, RETRANSMISSION_NANOS)));
  }

  /// Returns the rank under which the trace records the fault.
  private int rankOf(SimFault fault) {
    return switch (fault) {
      case SimFault.Delay delay -> delay.from();
      case SimFault.Slow slow -> slow.rank();
      case SimFault.Pause pause -> pause.rank();
      case SimFault.Crash crash -> crash.rank();
      case SimFault.HostCrash crash -> firstOn(crash.host());
      case SimFault.Restart restart -> restart.rank();
      case SimFault.Partition partition -> first(partition.ranks());
      case SimFault.Cut cut -> cut.from();
      case SimFault.ClockJump jump -> jump.rank();
    };
  }

  private int firstOn(int host) {
    int rank = 0;
    while (world.terms().hostOf(rank) != host) {
      rank++;
    }
    return rank;
  }

  private static int first(Set<Integer> ranks) {
    return ranks.stream().mapToInt(Integer::intValue).min().orElse(0);
  }
}
