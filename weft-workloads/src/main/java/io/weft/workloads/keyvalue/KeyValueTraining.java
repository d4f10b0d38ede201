// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvWorker;
import io.weft.workloads.model.Workload;
import io.weft.workloads.parameterserver.ServedResult;
import io.weft.workloads.parameterserver.ServedTraining;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.parameterserver.WorkerReport;
import io.weft.workloads.parameterserver.WorkerRow;
import io.weft.workloads.parameterserver.WorkerShard;
import io.weft.workloads.training.RankExchange;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingLoop;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingSettings;
import java.util.List;
import java.util.Optional;

/// One rank of a training whose model is in tables of a parameter server. All ranks of the job call
/// `run` with equal settings. Confined to one thread.
///
/// @param of the training; its observer is notified of the first worker's progress
/// @param models makes a worker's model
public record KeyValueTraining(ServedTraining of, WorkerModel.Factory models) {

  /// Creates a training of TensorFlow's network of the workload.
  public KeyValueTraining(ServedTraining of) {
    this(
        of, of.settings().workload() == Workload.WIDE_DEEP ? EmbeddingModel::new : DenseModel::new);
  }

  /// Serves until all workers have left, or trains. Only the first worker returns the result.
  ///
  /// Throws `CommException.Setup` if the job does not have one rank for each server and worker,
  /// `CommException` if a rank is lost, `DataException` and `TrainingException`.
  public Optional<ServedResult> run() throws InterruptedException {
    of.requireRanks();
    try (KvNode member = KvNode.open(of.weft(), options())) {
      if (member.server().isPresent()) {
        member.server().get().join(ServedTraining.SERVING);
        return Optional.empty();
      }
      return train(member.worker());
    }
  }

  /// Returns options with which the workers of a host sum the gradients of a step, if all workers
  /// take each step together and the model consists of dense tensors.
  private KvOptions options() {
    KvOptions options = KvOptions.servers(of.servers().servers());
    boolean together = of.settings().sync() instanceof Sync.Gradients;
    boolean dense = of.settings().workload() != Workload.WIDE_DEEP;
    return together && dense ? options.with(KvOptions.Levels.TWO) : options;
  }

  private Optional<ServedResult> train(KvWorker store) throws InterruptedException {
    TrainingSettings settings = of.settings();
    int index = store.workers().rank();
    var exchange = RankExchange.of(store.workers());
    var shard = WorkerShard.read(settings, of.source(), exchange, index, store.workers().size());
    try (var engine = new TableEngine(of, models, store, shard)) {
      var observer = index == 0 ? of.observer() : TrainingObserver.SILENT;
      new TrainingLoop(settings, of.source().name(), shard.columns(), observer).run(engine);
      WorkerRow row = engine.steps().row(-1, of.weft(), engine.model().counts());
      List<WorkerRow> rows =
          exchange.gather("told", row.numbers()).stream().map(WorkerRow::of).toList();
      engine.model().finish();
      // The digests of the dense layers: those of each worker, or the one of the servers.
      List<String> digests =
          of.servers().dense() == Servers.Dense.SERVERS
              ? List.of(engine.digest())
              : exchange.gather("digest", engine.digest());
      // No worker leaves, and no table changes, before the first worker has evaluated the model.
      Optional<ServedResult> result = Optional.empty();
      if (index == 0) {
        var report = new WorkerReport(of, shard.share(), rows);
        result = Optional.of(report.result(engine, report.losses(0), digests, engine.steps(), 0));
      }
      exchange.patient().barrier("evaluated");
      return result;
    }
  }
}
