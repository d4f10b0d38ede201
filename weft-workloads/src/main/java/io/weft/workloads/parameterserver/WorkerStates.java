// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.session.WeftServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// The states of the workers: done, training or lost. Confined to one thread.
final class WorkerStates {

  private static final long LOOK_MILLIS = 50;

  private final WeftServer member;
  private final WorkerResults results;
  private final GraphSession session;
  private final Duration limit;

  /// @param limit of each read of the results
  WorkerStates(WeftServer member, WorkerResults results, GraphSession session, Duration limit) {
    this.member = member;
    this.results = results;
    this.session = session;
    this.limit = limit;
  }

  /// Waits until each worker is done or lost, without a time limit for a live worker.
  List<WorkerResults.Row> awaitAll() throws InterruptedException {
    while (true) {
      List<Task> gone = member.gone(); // before the rows: a worker writes its row, then leaves
      List<WorkerResults.Row> rows = results.read(session, limit);
      boolean all = true;
      for (int worker = 0; worker < rows.size(); worker++) {
        all &= rows.get(worker).done() || gone.contains(new Task(TaskLayout.WORKERS, worker));
      }
      if (all) {
        return rows;
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    }
  }

  /// Returns the workers that have left before they were done.
  List<Integer> lost(List<WorkerResults.Row> rows) {
    List<Integer> lost = new ArrayList<>();
    for (int worker = 0; worker < rows.size(); worker++) {
      if (!rows.get(worker).done()) {
        lost.add(worker);
      }
    }
    return lost;
  }

  /// Returns whether no lower worker is done, so that this worker reports.
  boolean isLowest(int index, List<WorkerResults.Row> rows) {
    return rows.subList(0, index).stream().noneMatch(WorkerResults.Row::done);
  }
}
