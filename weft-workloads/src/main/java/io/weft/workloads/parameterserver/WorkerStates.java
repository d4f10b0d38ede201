// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.session.WeftServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Which workers are done, which still train, and which are lost. One thread.
final class WorkerStates {

  private static final long LOOK_MILLIS = 50;

  private final WeftServer member;
  private final WorkerResults results;
  private final GraphSession session;
  private final Duration limit;

  /// @param limit of each look
  WorkerStates(WeftServer member, WorkerResults results, GraphSession session, Duration limit) {
    this.member = member;
    this.results = results;
    this.session = session;
    this.limit = limit;
  }

  /// Waits until each worker is done or lost; as long as a worker lives it is waited for.
  List<WorkerResults.Row> awaitAll() throws InterruptedException {
    while (true) {
      List<Task> gone = member.gone(); // first: who is done and leaves was done before
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

  /// Workers that have left and were not done.
  List<Integer> lost(List<WorkerResults.Row> rows) {
    List<Integer> lost = new ArrayList<>();
    for (int worker = 0; worker < rows.size(); worker++) {
      if (!rows.get(worker).done()) {
        lost.add(worker);
      }
    }
    return lost;
  }

  /// Whether no lower worker is done: that one reports.
  boolean isLowest(int index, List<WorkerResults.Row> rows) {
    return rows.subList(0, index).stream().noneMatch(WorkerResults.Row::done);
  }
}
