// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.rendezvous.Rendezvous;
import java.util.function.Consumer;

/// One parameter server in one case. It provides a worker's next parameters when all gradients of
/// the worker have arrived. Callbacks run on the progress thread.
final class TrafficServer {

  private final TrafficPlan plan;
  private final int rank;
  private final Rendezvous rendezvous;
  private final CaseEnd end;

  /// @param end is notified of each worker that has ended
  TrafficServer(TrafficPlan plan, int rank, Rendezvous rendezvous, CaseEnd end) {
    this.plan = plan;
    this.rank = rank;
    this.rendezvous = rendezvous;
    this.end = end;
  }

  /// Serves the workers 0 to `workers` - 1, whose steps begin with number `first`.
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
