// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.Weft;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.placement.ReplicaDeviceSetter;
import io.weft.tensorflow.placement.VariablePlacement;
import io.weft.tensorflow.session.WeftServer;
import io.weft.workloads.training.RankExchange;
import io.weft.workloads.training.TrainingLoop;
import io.weft.workloads.training.TrainingSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/// A worker. It reads its share of the data, trains, waits for the other workers, and reports if it
/// is the lowest remaining worker. Confined to one thread.
///
/// @param index of the worker
record TrainingWorker(
    ServedTraining training,
    TaskLayout layout,
    WeftServer member,
    GraphSession.Opener opener,
    int index) {

  private static final long LOOK_MILLIS = 50;

  Optional<ServedResult> run() throws InterruptedException {
    TrainingSettings settings = training.settings();
    Weft weft = training.weft();
    int workers = training.servers().workers();
    var exchange =
        workers > 1 ? RankExchange.of(weft.communicator(layout.workers())) : RankExchange.ofOne();
    var shard = WorkerShard.read(settings, training.source(), exchange, index, workers);
    var results = new WorkerResults(shard.columns().steps() * settings.epochs());
    Replica replica = Replica.of(settings, training.servers(), shard.examples(), results);
    var limit = weft.config().deadline();
    var placed =
        ReplicaDeviceSetter.of(member.cluster(), member.task(), VariablePlacement.BALANCED_BYTES)
            .place(replica.graph());
    var graph = new WorkerGraph(replica, placed, opener, limit);
    try (var engine = new GraphEngine(training, layout, shard, graph)) {
      var reporter = new ProgressReporter(training.observer(), this::isLowest);
      new TrainingLoop(settings, training.source().name(), shard.columns(), reporter).run(engine);
      results.write(engine.session(), index, engine.row(), limit);
      List<WorkerRow> rows = awaitAll(engine.session(), results, limit);
      return rows.subList(0, index).stream().noneMatch(WorkerRow::done)
          ? Optional.of(engine.result(rows))
          : Optional.empty();
    }
  }

  /// Waits until each worker is done or lost, without a time limit for a live worker.
  private List<WorkerRow> awaitAll(GraphSession session, WorkerResults results, Duration limit)
      throws InterruptedException {
    while (true) {
      List<Task> gone = member.gone(); // before the rows: a worker writes its row, then leaves
      List<WorkerRow> rows = results.read(session, limit);
      if (IntStream.range(0, rows.size())
          .allMatch(w -> rows.get(w).done() || gone.contains(new Task(TaskLayout.WORKERS, w)))) {
        return rows;
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    }
  }

  /// Returns whether no lower worker remains.
  private boolean isLowest() {
    List<Task> gone = member.gone();
    return IntStream.range(0, index)
        .allMatch(below -> gone.contains(new Task(TaskLayout.WORKERS, below)));
  }
}
