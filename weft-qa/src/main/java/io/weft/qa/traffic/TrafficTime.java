// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.traffic;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.rendezvous.RendezvousConfig;
import io.weft.rendezvous.RendezvousCounts;
import io.weft.rendezvous.TransferRequests;
import io.weft.testkit.sim.SimRank;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.Simulation;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;

/// The speed of workers in a simulation of their traffic, with a check of every tensor's content.
public final class TrafficTime {

  private static final Duration LOOK = Duration.ofMillis(1);

  private TrafficTime() {}

  /// The values of one rank.
  ///
  /// @param step mean time of a step, zero for a server
  /// @param requests number of sent requests per step, for a server those to all workers
  /// @param messages number of sent messages per step
  private record Seen(Duration step, double requests, double messages) {}

  /// The mean values of all workers.
  ///
  /// @param stepsPerSecond rate of all workers together
  /// @param meanStep mean time of a worker's step
  /// @param requestsPerStep number of a worker's requests to all servers
  /// @param messagesPerStep number of a worker's messages, including its replies
  public record Measured(
      double stepsPerSecond, Duration meanStep, double requestsPerStep, double messagesPerStep) {}

  /// Simulates the traffic. The simulation must have `traffic.ranks()` ranks.
  public static Measured of(Simulation simulation, SimTraffic traffic, TransferRequests requests)
      throws InterruptedException {
    SimReport<Seen> report = simulation.runRanks(self -> measure(self, traffic, requests));
    List<Seen> workers = report.values().subList(traffic.servers(), traffic.ranks());
    double perSecond = 0;
    double nanos = 0;
    double asked = 0;
    double messages = 0;
    for (Seen worker : workers) {
      perSecond += 1e9 / ClampedDuration.nanos(worker.step());
      nanos += ClampedDuration.nanos(worker.step());
      asked += worker.requests();
      messages += worker.messages();
    }
    return new Measured(
        perSecond,
        Duration.ofNanos(Math.round(nanos / workers.size())),
        asked / workers.size(),
        messages / workers.size());
  }

  private static Seen measure(SimRank self, SimTraffic traffic, TransferRequests requests)
      throws InterruptedException {
    WeftConfig config =
        WeftConfig.builder()
            .set(RendezvousConfig.REQUESTS, requests.toString())
            .set(RendezvousConfig.MEMORY, Long.toString(traffic.memory(self.rank())))
            .build();
    try (Weft weft = self.join(config)) {
      Duration step = Duration.ZERO;
      if (self.rank() < traffic.servers()) {
        serve(self, traffic, weft);
      } else {
        step = new SimWorker(traffic, self, weft.rendezvous()).run();
      }
      RendezvousCounts counts = weft.rendezvous().counts();
      weft.communicator().barrier(named("end")).await();
      return new Seen(
          step,
          counts.totals().requests() / (double) traffic.steps(),
          counts.totals().messages() / (double) traffic.steps());
    }
  }

  private static void serve(SimRank self, SimTraffic traffic, Weft weft) {
    var server = new SimServer(traffic, weft.rendezvous(), self.rank());
    server.start();
    while (server.isBusy()) {
      self.compute(LOOK);
    }
  }
}
