// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.collective.Algorithms;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.sim.SimFault;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.network.SimLink;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;

/// A job whose trace's hash depends only on the seed. It has several hosts, jitter, all algorithms,
/// a rank that pauses, and one that dies.
final class HashRun {

  private static final int HOSTS = 4;
  private static final int ROUNDS = 3;

  private HashRun() {}

  /// Prints the hash. Returns the exit code.
  static int run(List<String> arguments, PrintStream out) throws InterruptedException {
    Options options = new Options(arguments, "ranks", "seed");
    SimReport<Void> report =
        job(options.count("ranks", 2 * HOSTS), options.number("seed", 1)).run(HashRun::work);
    out.println(report.trace().hash());
    return 0;
  }

  private static Simulation job(int ranks, long seed) {
    return Simulation.of(ranks)
        .hosts(Math.min(HOSTS, ranks))
        .seed(seed)
        .between(SimLink.ETHERNET.jittered(Duration.ofNanos(80_000)))
        .fault(new SimFault.Pause(Duration.ofMillis(6), Duration.ofMillis(4), 0))
        .fault(new SimFault.Crash(Duration.ofMillis(25), ranks - 1))
        .traceLines(0);
  }

  private static Void work(Weft weft) throws InterruptedException {
    for (int round = 0; round < ROUNDS; round++) {
      for (int elements : new int[] {3, 5_000, 100_000}) {
        try (OwnedTensor t = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
          for (String algorithm : Algorithms.allreduceNames()) {
            weft.communicator()
                .allreduce(t.view(), t.view(), ReduceOp.SUM, named("g").by(algorithm))
                .await();
          }
        }
      }
    }
    return null;
  }
}
