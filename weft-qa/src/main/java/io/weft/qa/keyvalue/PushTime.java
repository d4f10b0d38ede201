// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.Connections;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvServer;
import io.weft.qa.keyvalue.SimPusher.Seen;
import io.weft.rendezvous.RendezvousConfig;
import io.weft.testkit.sim.SimRank;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.Simulation;
import io.weft.transport.limit.ClampedDuration;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;

/// The push rate of simulated workers and their staleness, with a check of every sum. Channel, key
/// lists, shards and clocks are production code. The program of a server's rank runs the duty
/// cycles of its shards.
public final class PushTime {

  private static final Duration LOOK = Duration.ofMillis(10);

  private PushTime() {}

  /// The measured values.
  ///
  /// @param pushesPerSecond rate of all workers together in virtual time
  /// @param meanPush mean time of a push, including the worker's other work
  /// @param staleness largest number of clocks by which a worker was behind another one at a reply
  /// @param events number of events of the simulation
  /// @param hash hash of its trace; equal hashes mean equal runs
  public record Measured(
      double pushesPerSecond, Duration meanPush, long staleness, long events, String hash) {}

  /// Simulates the pushes. The simulation must have `what.ranks()` ranks. Throws `AssertionError`
  /// after an error.
  public static Measured of(Simulation simulation, SimPushes what) throws InterruptedException {
    MemorySegment ones = Arena.ofAuto().allocate(what.bytes(), 64);
    for (long i = 0; i < what.pairs(); i++) {
      ones.setAtIndex(ValueLayout.JAVA_FLOAT, i, 1);
    }
    SimReport<Seen> report = simulation.runRanks(self -> take(self, what, ones));
    List<Seen> workers = report.values().subList(what.servers(), what.ranks());
    long begin =
        workers.stream().mapToLong(it -> ClampedDuration.nanos(it.begin())).min().orElseThrow();
    long end =
        workers.stream().mapToLong(it -> ClampedDuration.nanos(it.end())).max().orElseThrow();
    double nanos =
        workers.stream()
            .mapToLong(it -> ClampedDuration.nanos(it.end().minus(it.begin())))
            .average()
            .orElse(0);
    return new Measured(
        1e9 * what.workers() * what.pushes() / (end - begin),
        Duration.ofNanos(Math.round(nanos / what.pushes())),
        workers.stream().mapToLong(Seen::staleness).max().orElseThrow(),
        report.trace().events(),
        report.trace().hash());
  }

  private static Seen take(SimRank self, SimPushes what, MemorySegment ones)
      throws InterruptedException {
    WeftConfig config =
        WeftConfig.builder()
            .connections(Connections.USED)
            .set(RendezvousConfig.MEMORY, Long.toString(what.memory(self.rank())))
            .build();
    try (Weft weft = self.join(config);
        KvNode kv = KvNode.open(weft, KvOptions.servers(what.servers()), KvServer.RunBy.PROGRAM)) {
      if (kv.server().isPresent()) {
        serve(self, kv.server().get(), what);
        return new Seen(Duration.ZERO, Duration.ZERO, 0);
      }
      return new SimPusher(what, self, kv.worker(), ones).run();
    }
  }

  private static void serve(SimRank self, KvServer server, SimPushes what)
      throws InterruptedException {
    Duration serving = what.serving();
    while (server.hasWorkers()) {
      if (server.work(LOOK)) {
        self.compute(serving);
      }
    }
  }
}
