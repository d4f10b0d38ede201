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
/// single.
final class TrafficRun {

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
            "steps",
            "seed",
            "json");
    List<String> lines = new ArrayList<>();
    out.printf(
        "%8s %9s %12s %12s %14s %14s%n",
        "workers", "requests", "steps/s", "ms a step", "requests/step", "messages/step");
    for (int workers : options.counts("workers", "1,10,50,100,200,400,700,1000")) {
      SimTraffic traffic =
          new SimTraffic(
              options.count("servers", 20),
              workers,
              options.count("tensors", 300),
              options.count("bytes", 256),
              Duration.ofNanos(options.number("compute-us", 20_000) * 1000),
              options.count("steps", 3));
      for (TransferRequests requests : TransferRequests.values()) {
        TrafficTime.Measured measured =
            TrafficTime.of(simulation(options, traffic), traffic, requests);
        out.printf(
            Locale.ROOT,
            "%8d %9s %12.1f %12.3f %14.1f %14.1f%n",
            workers,
            requests,
            measured.stepsPerSecond(),
            ClampedDuration.nanos(measured.meanStep()) / 1e6,
            measured.requestsPerStep(),
            measured.messagesPerStep());
        out.flush();
        lines.add(json(traffic, requests, measured));
      }
    }
    options.save(lines);
    return 0;
  }

  private static Simulation simulation(Options options, SimTraffic traffic) {
    SimLink link = SimLink.ETHERNET;
    return Simulation.of(traffic.ranks())
        .hosts(traffic.ranks())
        .between(
            SimLink.of(
                link.latency(),
                link.bytesPerSecond(),
                Duration.ofNanos(options.number("message-ns", 1000))))
        .seed(options.number("seed", 1))
        .traceLines(0);
  }

  private static String json(
      SimTraffic traffic, TransferRequests requests, TrafficTime.Measured measured) {
    return String.format(
        Locale.ROOT,
        "{\"benchmark\":\"wide-deep-traffic\",\"peer\":\"weft\",\"simulated\":true,\"requests\":\"%s\","
            + "\"workers\":%d,\"servers\":%d,\"tensors\":%d,\"bytes\":%d,\"stepsPerSecond\":%.3f,"
            + "\"meanStepMillis\":%.6f,\"requestsPerStep\":%.3f,\"messagesPerStep\":%.3f}",
        requests,
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
