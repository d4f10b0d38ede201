// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.cluster.SecureMode;
import io.weft.perf.process.Child;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.process.PerfException;
import io.weft.rendezvous.RendezvousConfig;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// Who carries the traffic.
///
/// @param name for reports, before a peer has told its own
/// @param transport what it goes over
/// @param round one round in fresh processes, none of which is left: the client's lines
record TrafficContestant(String name, String transport, Round round) {

  /// One round.
  interface Round {
    /// Throws `PerfException.Failed`.
    List<String> run() throws InterruptedException;
  }

  private static final long DIRECT_BYTES = 1L << 30;

  /// Weft, with receives that leave together as one request, or with a request for each.
  static TrafficContestant weft(
      TrafficPlan plan, String transport, SecureMode secure, boolean isFused, Duration limit) {
    String requests = isFused ? "fused" : "single";
    Map<String, String> settings = Map.of(RendezvousConfig.REQUESTS.variable(), requests);
    LocalRanks ranks =
        new LocalRanks(TrafficRank.class, plan.ranks(), DIRECT_BYTES, settings).patient();
    return new TrafficContestant(
        isFused ? "weft" : "weft single",
        transport,
        () -> ranks.run(transport, secure, plan.words(), limit));
  }

  /// grpc-java.
  static TrafficContestant grpc(TrafficPlan plan, Duration limit) {
    List<String> command = new JavaProgram(GrpcTraffic.class).command(plan.words());
    return new TrafficContestant(
        "grpc",
        "tcp",
        () -> {
          Child.ChildOutput outcome = Child.run(command, limit);
          if (outcome.exit() != 0) {
            throw new PerfException.Failed(
                "peer grpc ended with status %d:%n%s"
                    .formatted(outcome.exit(), outcome.lastWords()));
          }
          return outcome.out();
        });
  }

  /// What it is called where its client said `said`: Weft does not know that it is two.
  String called(String said) {
    return name.equals("grpc") ? said : name;
  }
}
