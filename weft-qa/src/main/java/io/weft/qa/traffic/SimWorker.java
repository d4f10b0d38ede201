// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.traffic;

import io.weft.rendezvous.Edge;
import io.weft.rendezvous.Rendezvous;
import io.weft.testkit.sim.SimRank;
import io.weft.testkit.traffic.StepTransfers;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// One worker: a sequential program that waits in virtual time.
final class SimWorker {

  /// The divisor of the time waited so far, which yields the next polling interval. The measured
  /// time of a step is at most 2 % too long.
  private static final int LOOKS = 50;

  private static final Duration SHORTEST_LOOK = Duration.ofNanos(2_000);

  private final SimTraffic traffic;
  private final SimRank self;
  private final StepTransfers exchange;
  private boolean arrived;
  private @Nullable String wrong;

  SimWorker(SimTraffic traffic, SimRank self, Rendezvous rendezvous) {
    this.traffic = traffic;
    this.self = self;
    List<Integer> tensors = IntStream.range(0, traffic.tensors()).boxed().toList();
    List<Edge> gradients = tensors.stream().map(t -> traffic.gradient(t, self.rank())).toList();
    List<Edge> parameters = tensors.stream().map(t -> traffic.parameter(t, self.rank())).toList();
    exchange =
        new StepTransfers(
            rendezvous,
            self.rank(),
            traffic.bytes(),
            new StepTransfers.Tensors(tensors, gradients, parameters),
            what -> wrong = what);
  }

  /// Runs all steps. Returns the mean time of a step, without the first.
  Duration run() {
    Duration begin = self.now();
    for (int number = 0; number < traffic.steps(); number++) {
      if (number == 1) {
        begin = self.now();
      }
      step(number);
    }
    return self.now().minus(begin).dividedBy(traffic.steps() - 1L);
  }

  private void step(int number) {
    arrived = false;
    exchange.receive(number, last -> arrived = true);
    Duration asked = self.now();
    while (!arrived) {
      if (wrong != null) {
        throw new IllegalStateException(wrong);
      }
      Duration look = self.now().minus(asked).dividedBy(LOOKS);
      self.compute(look.compareTo(SHORTEST_LOOK) > 0 ? look : SHORTEST_LOOK);
    }
    self.compute(traffic.compute());
    exchange.send(number, false, () -> exchange.end(number));
  }
}
