// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import io.weft.kv.spec.Consistency;
import io.weft.qa.keyvalue.PushTime;
import io.weft.qa.keyvalue.SimPushes;
import io.weft.qa.keyvalue.SimPushes.Pace;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.network.SimLink;
import io.weft.transport.limit.ClampedDuration;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// The throughput of pushes to a parameter server over the numbers of workers and servers.
final class PushRun {

  private static final double BYTES_OF_GBIT = 1e9 / 8;

  private PushRun() {}

  /// Prints a table, and writes a JSON line for each row if requested. Returns the exit code.
  static int run(List<String> arguments, PrintStream out) throws InterruptedException {
    Options options =
        new Options(
            arguments,
            "workers",
            "servers",
            "pairs",
            "pushes",
            "window",
            "message-ns",
            "gbit",
            "request-ns",
            "pair-ns",
            "seed",
            "json");
    List<Integer> allServers = options.counts("servers", "1,10,50");
    List<Integer> allWorkers = options.counts("workers", "1,10,100,1000");
    List<String> lines = new ArrayList<>();
    out.printf(
        "%8s %8s %12s %10s %12s %12s %9s%n",
        "workers", "servers", "pushes/s", "GB/s", "ms a push", "events", "took");
    for (int servers : allServers) {
      for (int workers : allWorkers) {
        SimPushes what = pushes(options, servers, workers);
        long begin = System.nanoTime();
        PushTime.Measured measured = PushTime.of(simulation(options, what), what);
        double took = (System.nanoTime() - begin) / 1e9;
        out.printf(
            Locale.ROOT,
            "%8d %8d %12.1f %10.3f %12.3f %12d %7.1f s%n",
            workers,
            servers,
            measured.pushesPerSecond(),
            measured.pushesPerSecond() * what.bytes() / 1e9,
            ClampedDuration.nanos(measured.meanPush()) / 1e6,
            measured.events(),
            took);
        out.flush();
        lines.add(json(what, measured));
      }
    }
    options.save(lines);
    return 0;
  }

  private static SimPushes pushes(Options options, int servers, int workers) {
    return new SimPushes(
        servers,
        workers,
        options.count("pairs", 10_000),
        options.count("pushes", 4),
        options.count("window", 1),
        Consistency.asynchronous(),
        new Pace(
            Duration.ZERO,
            Duration.ofNanos(options.number("request-ns", 1000)),
            Duration.ofNanos(options.number("pair-ns", 2))));
  }

  private static Simulation simulation(Options options, SimPushes what) {
    return Simulation.of(what.ranks())
        .hosts(what.ranks())
        .between(
            SimLink.of(
                SimLink.ETHERNET.latency(),
                options.count("gbit", 10) * BYTES_OF_GBIT,
                Duration.ofNanos(options.number("message-ns", 1000))))
        .seed(options.number("seed", 1))
        .traceLines(0);
  }

  private static String json(SimPushes what, PushTime.Measured measured) {
    return String.format(
        Locale.ROOT,
        "{\"benchmark\":\"kv\",\"op\":\"push\",\"peer\":\"weft\",\"simulated\":true,"
            + "\"workers\":%d,\"servers\":%d,\"pairs\":%d,\"bytes\":%d,\"window\":%d,"
            + "\"meanMicros\":%.3f,\"requestsPerSecond\":%.3f,\"gigabytesPerSecond\":%.6f,"
            + "\"checked\":true}",
        what.workers(),
        what.servers(),
        what.pairs(),
        what.bytes(),
        what.window(),
        ClampedDuration.nanos(measured.meanPush()) / 1e3,
        measured.pushesPerSecond(),
        measured.pushesPerSecond() * what.bytes() / 1e9);
  }
}
