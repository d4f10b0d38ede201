// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.traffic;

import io.weft.rendezvous.Edge;
import io.weft.rendezvous.Rendezvous;
import io.weft.testkit.traffic.StepTransfers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One parameter server. It provides a worker's next parameters when all gradients of the worker
/// have arrived. It runs in callbacks of the rank's progress thread.
final class SimServer {

  private final SimTraffic traffic;
  private final Rendezvous rendezvous;
  private final List<Integer> tensors;
  private int busy;
  private @Nullable String wrong;

  SimServer(SimTraffic traffic, Rendezvous rendezvous, int rank) {
    this.traffic = traffic;
    this.rendezvous = rendezvous;
    tensors = traffic.tensorsOf(rank);
    busy = traffic.workers();
  }

  void start() {
    for (int worker = traffic.servers(); worker < traffic.ranks(); worker++) {
      List<Edge> parameters = edges(worker, true);
      List<Edge> gradients = edges(worker, false);
      serve(
          new StepTransfers(
              rendezvous,
              worker,
              traffic.bytes(),
              new StepTransfers.Tensors(tensors, parameters, gradients),
              what -> wrong = what),
          0);
    }
  }

  private List<Edge> edges(int worker, boolean parameters) {
    return tensors.stream()
        .map(t -> parameters ? traffic.parameter(t, worker) : traffic.gradient(t, worker))
        .toList();
  }

  private void serve(StepTransfers exchange, int number) {
    if (number == traffic.steps()) {
      busy--;
      return;
    }
    exchange.send(number, false, () -> {});
    exchange.receive(
        number,
        last -> {
          exchange.end(number);
          serve(exchange, number + 1);
        });
  }

  /// Returns whether a worker has steps left. Throws `IllegalStateException` after an error.
  boolean isBusy() {
    if (wrong != null) {
      throw new IllegalStateException(wrong);
    }
    return busy > 0;
  }
}
