// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.traffic;

import io.weft.rendezvous.Rendezvous;
import java.util.function.Consumer;

/// One parameter server in one case: has a worker's next parameters ready once all of its gradients
/// are here. Callbacks on the progress thread.
final class TrafficServer {

  private final TrafficPlan plan;
  private final int rank;
  private final Rendezvous rendezvous;
  private final CaseEnd verdict;

  /// @param verdict hears of each worker that has ended
  TrafficServer(TrafficPlan plan, int rank, Rendezvous rendezvous, CaseEnd verdict) {
    this.plan = plan;
    this.rank = rank;
    this.rendezvous = rendezvous;
    this.verdict = verdict;
  }

  /// For the workers 0 to `workers` - 1, whose steps begin with this number.
  void start(int workers, long first) {
    Consumer<String> wrong = verdict::wrong;
    for (int worker = 0; worker < workers; worker++) {
      serve(StepTransfers.of(plan, rank, rendezvous, worker, wrong), first);
    }
  }

  private void serve(StepTransfers exchange, long number) {
    exchange.send(number, false, () -> {});
    exchange.receive(
        number,
        last -> {
          exchange.end(number);
          if (last) {
            verdict.ended();
          } else {
            serve(exchange, number + 1);
          }
        });
  }
}
