// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import io.weft.WeftConfig;
import io.weft.collective.Algorithms;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.cost.AllreduceTime;
import io.weft.testkit.sim.cost.CostModel;
import io.weft.testkit.sim.network.SimLink;
import io.weft.transport.limit.ClampedDuration;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/// One allreduce on many ranks with one rank per host. Its virtual time is compared with that of
/// the formula of `CostModel`, and the cost of the simulation is reported.
final class ScaleRun {

  private static final double TOLERANCE = 0.05;

  private ScaleRun() {}

  /// Prints the results. Returns 0 if the times differ by at most 5 %, otherwise 1.
  static int run(List<String> arguments, PrintStream out) throws InterruptedException {
    Options options = new Options(arguments, "ranks", "kib", "seed", "algorithm");
    int ranks = options.count("ranks", 1024);
    int kib = options.count("kib", 1024);
    long seed = options.number("seed", 1);
    long bytes = kib * 1024L;
    SimLink link = SimLink.ETHERNET;
    WeftConfig config = WeftConfig.builder().build();
    String algorithm =
        options.text(
            "algorithm",
            Algorithms.forAllreduce(bytes, IntStream.range(0, ranks).boxed().toList()));
    CostModel model = CostModel.of(link, Simulation.CYCLE, config);
    Duration formula = model.allreduce(algorithm, ranks, bytes);
    long realStart = System.nanoTime();
    long cpuStart = cpuNanos();
    AllreduceTime.Measured measured =
        AllreduceTime.of(
            Simulation.of(ranks).hosts(ranks).between(link).config(config).seed(seed).traceLines(0),
            Math.toIntExact(bytes / Float.BYTES),
            algorithm);
    double off =
        ClampedDuration.nanos(measured.time()) / (double) ClampedDuration.nanos(formula) - 1;
    out.printf(
        Locale.ROOT,
        "allreduce of %d KiB on %d ranks by %s: %.1f us of virtual time, formula %.1f us, off by"
            + " %.2f %%%n"
            + "the whole job: %.3f ms of virtual time, %d events, trace %s%n"
            + "it took %.1f s, %.1f s of processor time%n",
        kib,
        ranks,
        algorithm,
        ClampedDuration.nanos(measured.time()) / 1e3,
        ClampedDuration.nanos(formula) / 1e3,
        100 * off,
        ClampedDuration.nanos(measured.report().virtual()) / 1e6,
        measured.report().trace().events(),
        measured.report().trace().hash(),
        (System.nanoTime() - realStart) / 1e9,
        (cpuNanos() - cpuStart) / 1e9);
    return Math.abs(off) <= TOLERANCE ? 0 : 1;
  }

  private static long cpuNanos() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean system
        ? system.getProcessCpuTime()
        : 0;
  }
}
