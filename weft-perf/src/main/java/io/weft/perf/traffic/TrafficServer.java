// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.rendezvous.Rendezvous;
import java.util.function.Consumer;

/// One parameter server in one case: has a worker's next parameters ready once all of its gradients
/// are here. Callbacks on the progress thread.
final class TrafficServer {

  private final TrafficPlan plan;
  private final int rank;
  private final Rendezvous rendezvous;
  private final CaseEnd end;

  /// @param end hears of each worker that has ended
  TrafficServer(TrafficPlan plan, int rank, Rendezvous rendezvous, CaseEnd end) {
    this.plan = plan;
    this.rank = rank;
    this.rendezvous = rendezvous;
    this.end = end;
  }

  /// For the workers 0 to `workers` - 1, whose steps begin with this number.
  void start(int workers, long first) {
    Consumer<String> wrong = end::wrong;
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
            end.ended();
          } else if (!end.isWrong()) {
            serve(exchange, number + 1);
          }
        });
  }
}
