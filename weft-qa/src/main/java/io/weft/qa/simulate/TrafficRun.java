// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import io.weft.qa.traffic.SimTraffic;
import io.weft.qa.traffic.TrafficTime;
import io.weft.rendezvous.TransferRequests;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.network.SimLink;
import io.weft.transport.limit.ClampedDuration;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// The throughput of wide-and-deep steps over the number of workers, with requests fused and
/// single, and with single requests that cost as much as calls of gRPC.
final class TrafficRun {

  /// The time of a unary call of grpc-java of 64 bytes on a connection with 256 open calls
  /// (docs/benchmarks/2026-11-27-xeon.md: 0.137 million calls a second).
  private static final long GRPC_CALL_NANOS = 7_300;

  /// A contestant of the simulation.
  ///
  /// @param peer its name
  /// @param requests how it requests the tensors of a server
  /// @param perMessage time for which a message occupies a host's port
  private record Simulated(String peer, TransferRequests requests, Duration perMessage) {}

  private TrafficRun() {}

  /// Prints a table, and writes a JSON line for each row if requested. Returns the exit code.
  static int run(List<String> arguments, PrintStream out) throws InterruptedException {
    Options options =
        new Options(
            arguments,
            "workers",
            "servers",
            "tensors",
            "bytes",
            "compute-us",
            "message-ns",
            "grpc-call-ns",
            "steps",
            "seed",
            "json");
    List<String> lines = new ArrayList<>();
    out.printf(
        "%8s %5s %9s %12s %12s %14s %14s%n",
        "workers", "peer", "requests", "steps/s", "ms a step", "requests/step", "messages/step");
    for (int workers : options.counts("workers", "1,10,50,100,200,400,700,1000")) {
      SimTraffic traffic =
          new SimTraffic(
              options.count("servers", 20),
              workers,
              options.count("tensors", 300),
              options.count("bytes", 256),
              Duration.ofNanos(options.number("compute-us", 20_000) * 1000),
              options.count("steps", 3));
      for (Simulated each : contestants(options)) {
        TrafficTime.Measured measured =
            TrafficTime.of(
                simulation(options, traffic, each.perMessage()), traffic, each.requests());
        out.printf(
            Locale.ROOT,
            "%8d %5s %9s %12.1f %12.3f %14.1f %14.1f%n",
            workers,
            each.peer(),
            each.requests(),
            measured.stepsPerSecond(),
            ClampedDuration.nanos(measured.meanStep()) / 1e6,
            measured.requestsPerStep(),
            measured.messagesPerStep());
        out.flush();
        lines.add(json(traffic, each, measured));
      }
    }
    options.save(lines);
    return 0;
  }

  /// Returns Weft with each way of requesting, then gRPC, whose call is a request and an answer.
  private static List<Simulated> contestants(Options options) {
    Duration message = Duration.ofNanos(options.number("message-ns", 1000));
    long call = options.number("grpc-call-ns", GRPC_CALL_NANOS);
    List<Simulated> all = new ArrayList<>();
    for (TransferRequests requests : TransferRequests.values()) {
      all.add(new Simulated("weft", requests, message));
    }
    all.add(new Simulated("grpc", TransferRequests.SINGLE, Duration.ofNanos(call / 2)));
    return all;
  }

  private static Simulation simulation(Options options, SimTraffic traffic, Duration perMessage) {
    SimLink link = SimLink.ETHERNET;
    return Simulation.of(traffic.ranks())
        .hosts(traffic.ranks())
        .between(SimLink.of(link.latency(), link.bytesPerSecond(), perMessage))
        .seed(options.number("seed", 1))
        .traceLines(0);
  }

  private static String json(
      SimTraffic traffic, Simulated contestant, TrafficTime.Measured measured) {
    return String.format(
        Locale.ROOT,
        "{\"benchmark\":\"wide-deep-traffic\",\"peer\":\"%s\",\"simulated\":true,\"requests\":\"%s\","
            + "\"workers\":%d,\"servers\":%d,\"tensors\":%d,\"bytes\":%d,\"stepsPerSecond\":%.3f,"
            + "\"meanStepMillis\":%.6f,\"requestsPerStep\":%.3f,\"messagesPerStep\":%.3f}",
        contestant.peer(),
        contestant.requests(),
        traffic.workers(),
        traffic.servers(),
        traffic.tensors(),
        traffic.bytes(),
        measured.stepsPerSecond(),
        ClampedDuration.nanos(measured.meanStep()) / 1e6,
        measured.requestsPerStep(),
        measured.messagesPerStep());
  }
}
