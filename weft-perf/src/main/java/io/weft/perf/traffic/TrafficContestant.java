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

/// A system that carries the traffic.
///
/// @param name name in reports until a peer has printed its own
/// @param transport the transport of the traffic
/// @param round runs one round in new processes, which all end, and returns the client's lines
record TrafficContestant(String name, String transport, Round round) {

  /// One round.
  interface Round {
    /// Runs the round. Throws `PerfException.Failed`.
    List<String> run() throws InterruptedException;
  }

  private static final long DIRECT_BYTES = 1L << 30;

  /// Returns Weft with one request for many receives, or with one request for each receive.
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

  /// Returns grpc-java.
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

  /// Returns the name in the report, given the name that the client printed. Both contestants of
  /// Weft print the same name, so they keep their own.
  String called(String said) {
    return name.equals("grpc") ? said : name;
  }
}
