// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.TransferCounts;
import io.weft.kv.spec.TableCounts;
import io.weft.workloads.batch.RankShards;
import io.weft.workloads.checkpoint.History;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.Timing;
import io.weft.workloads.training.Traffic;
import io.weft.workloads.training.TrainingCost;
import io.weft.workloads.training.TrainingEngine;
import io.weft.workloads.training.TrainingOutcome;
import io.weft.workloads.training.TrainingSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The results of all workers, from which the worker that reports makes the result of the training.
///
/// @param training of that worker
/// @param share of that worker
/// @param rows by worker
public record WorkerReport(ServedTraining training, RankShards share, List<WorkerRow> rows) {

  /// Returns, for each step from `first` on, the mean loss over the workers that took the step.
  public List<Double> losses(int first) {
    List<Double> losses = new ArrayList<>();
    for (int step = first; step < rows.getFirst().losses().length; step++) {
      double sum = 0;
      int count = 0;
      for (int worker = 0; worker < rows.size(); worker++) {
        WorkerRow row = rows.get(worker);
        if (row.done() && Double.isFinite(row.losses()[step])) {
          sum += row.losses()[step];
          count += share.columns().width(worker, rows.size());
        }
      }
      losses.add(sum / count);
    }
    return losses;
  }

  /// Returns the number of steps that all workers took.
  long taken() {
    return rows.stream().mapToLong(WorkerRow::steps).sum();
  }

  /// Tests the model and returns the result.
  ///
  /// @param losses of each global batch since the first epoch
  /// @param digests of the weights
  /// @param own steps of the worker that reports
  /// @param dropped gradients that arrived too late to count
  public ServedResult result(
      TrainingEngine engine,
      List<Double> losses,
      List<String> digests,
      WorkerSteps own,
      long dropped)
      throws InterruptedException {
    TrainingSettings settings = training.settings();
    Examples test = training.source().test();
    Evaluation tested = engine.evaluate(test);
    List<Double> accuracies = List.of(tested.correct() / (double) test.count());
    double speed =
        rows.stream()
            .filter(row -> row.done() && row.effort().seconds() > 0)
            .collect(
                Collectors.summingDouble(row -> row.effort().examples() / row.effort().seconds()));
    var outcome =
        new TrainingOutcome(
            training.source().name(),
            losses,
            accuracies,
            settings.workload().isRanked() ? tested.ranking().auc() : OptionalDouble.empty(),
            new History(losses, accuracies).finalLoss(),
            digests,
            Timing.ofWorkers(speed, own.nanos()),
            traffic(),
            List.of(),
            OptionalLong.empty(),
            Optional.empty(),
            OptionalLong.empty(),
            Optional.of(cost()),
            List.of(),
            Optional.empty(),
            engine.sample());
    return new ServedResult(outcome, facts(dropped));
  }

  private Traffic traffic() {
    return Traffic.of(
        rows.stream().mapToLong(WorkerRow::bytesSent).sum(),
        OptionalDouble.empty(),
        rows.stream().map(WorkerRow::transfers).reduce(TransferCounts.NONE, TransferCounts::plus));
  }

  private TrainingCost cost() {
    List<WorkerRow> done = rows.stream().filter(WorkerRow::done).toList();
    return new TrainingCost(
        done.stream().mapToLong(WorkerRow::steps).max().orElse(0),
        done.stream().mapToDouble(row -> row.effort().seconds()).max().orElse(0),
        done.stream().mapToDouble(row -> row.effort().cpuSeconds()).sum());
  }

  private ServingFacts facts(long dropped) {
    Servers servers = training.servers();
    Sync sync = training.settings().sync();
    long taken = taken();
    boolean known = taken > 0 && rows.stream().anyMatch(row -> row.done() && row.requests() >= 0);
    long requests = rows.stream().mapToLong(WorkerRow::requests).sum();
    boolean inTables = servers.via() == Servers.Via.PS;
    String mode = inTables || sync instanceof Sync.Asynchronous ? sync.toString() : "sync";
    return new ServingFacts(
        servers.via().toString(),
        servers.workers(),
        servers.servers(),
        mode,
        servers.backup(),
        known ? (Double) ((double) requests / taken) : null,
        new ServingFacts.Lost(
            dropped,
            IntStream.range(0, rows.size()).filter(w -> !rows.get(w).done()).boxed().toList()),
        inTables ? tables() : null);
  }

  private ServingFacts.@Nullable Tables tables() {
    TableCounts all =
        rows.stream().map(WorkerRow::tables).reduce(TableCounts.NONE, TableCounts::plus);
    return new ServingFacts.Tables(
        all.pushes(), all.pulls(), new ServingFacts.Staleness(all.staleness()), exposedShare());
  }

  /// Returns the share of all workers' steps that was exposed communication; null if unknown.
  private @Nullable Double exposedShare() {
    double seconds = rows.stream().mapToDouble(row -> row.exposure().seconds()).sum();
    double waited = rows.stream().mapToDouble(row -> row.exposure().waited()).sum();
    return seconds > 0 ? (Double) (waited / seconds) : null;
  }
}
