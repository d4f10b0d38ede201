// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.cost;

import static io.weft.collective.CollectiveOptions.named;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.sim.SimRank;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.Simulation;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;

/// The duration of an allreduce in a simulation, from the moment at which all ranks submit it until
/// the last rank has its result, which is checked on all ranks.
public final class AllreduceTime {

  private static final Duration LEAD = Duration.ofMillis(1);

  private AllreduceTime() {}

  /// A measured duration.
  ///
  /// @param time of the slowest rank
  /// @param report of the whole simulation
  public record Measured(Duration time, SimReport<Duration> report) {}

  /// Sums this number of floats.
  ///
  /// @param algorithm a name for `CollectiveOptions.by`; empty: Weft's choice
  public static Measured of(Simulation simulation, int floats, String algorithm)
      throws InterruptedException {
    CollectiveOptions options = algorithm.isEmpty() ? named("g") : named("g").by(algorithm);
    SimReport<Duration> report = simulation.runRanks(self -> measure(self, floats, options));
    return new Measured(report.values().stream().max(Duration::compareTo).orElseThrow(), report);
  }

  private static Duration measure(SimRank self, int floats, CollectiveOptions options)
      throws InterruptedException {
    try (Weft weft = self.join();
        OwnedTensor t = OwnedTensor.allocate(DType.FLOAT32, Shape.of(floats))) {
      for (long i = 0; i < floats; i++) {
        t.view().data().setAtIndex(JAVA_FLOAT, i, value(self.rank(), i));
      }
      Duration start = agree(self, weft.communicator());
      self.compute(start.minus(self.now()));
      weft.communicator().allreduce(t.view(), t.view(), ReduceOp.SUM, options).await();
      Duration end = self.now();
      check(t.view(), floats, weft.size());
      return end.minus(start);
    }
  }

  /// Returns a moment that no rank has passed yet.
  private static Duration agree(SimRank self, Communicator communicator)
      throws InterruptedException {
    try (OwnedTensor now = OwnedTensor.allocate(DType.INT64, Shape.of(1))) {
      now.view().data().set(JAVA_LONG, 0, ClampedDuration.nanos(self.now()));
      communicator.allreduce(now.view(), now.view(), ReduceOp.MAX, named("now")).await();
      return Duration.ofNanos(now.view().data().get(JAVA_LONG, 0)).plus(LEAD);
    }
  }

  private static float value(int rank, long i) {
    return rank + (i & 7);
  }

  private static void check(TensorView sum, int floats, int ranks) {
    for (long i = 0; i < floats; i++) {
      float expected = ranks * (ranks - 1) / 2 + ranks * (i & 7); // exact: below 2^24
      float got = sum.data().getAtIndex(JAVA_FLOAT, i);
      if (got != expected) {
        throw new AssertionError("element " + i + " is " + got + ", expected " + expected);
      }
    }
  }
}
