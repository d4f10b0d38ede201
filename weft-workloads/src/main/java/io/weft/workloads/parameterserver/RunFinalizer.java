// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensor.TensorView;
import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.WeightsDigest;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.Fetched;
import io.weft.workloads.batch.Feed;
import io.weft.workloads.checkpoint.History;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Ranking;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.Timing;
import io.weft.workloads.training.TrainingOutcome;
import io.weft.workloads.training.TrainingSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

/// The end of a run on one worker, after all workers are done: it tests the model and combines the
/// results. Confined to one thread.
///
/// @param before the history before this run, if this worker has read it from a checkpoint
/// @param session for reading the model
record RunFinalizer(
    ServedTraining training,
    WorkerLoop.Plan plan,
    History before,
    Replica replica,
    GraphSession session) {

  private static final int TEST_BATCH = 500;
  private static final int FINAL_STEPS = 50;

  /// @param rows the results of the workers
  /// @param nanos of this worker's steps
  /// @param updates if this worker ran them
  /// @param lost workers
  ServedResult served(
      List<WorkerResults.Row> rows,
      List<Long> nanos,
      Optional<SynchronousUpdates> updates,
      List<Integer> lost)
      throws InterruptedException {
    TrainingSettings settings = training.settings();
    Examples test = training.source().test();
    var ranking = new Ranking();
    double accuracy = judge(test, ranking) / (double) test.count();
    List<Double> losses = new ArrayList<>(before.losses());
    losses.addAll(
        updates.isPresent() ? Arrays.stream(updates.get().losses()).boxed().toList() : means(rows));
    double finalLoss =
        losses.isEmpty()
            ? Double.NaN
            : losses.stream()
                .skip(Math.max(0, losses.size() - FINAL_STEPS))
                .collect(Collectors.averagingDouble(loss -> loss));
    double speed =
        rows.stream()
            .filter(row -> row.done() && row.seconds() > 0)
            .collect(Collectors.summingDouble(row -> row.examples() / row.seconds()));
    var outcome =
        new TrainingOutcome(
            training.source().name(),
            losses,
            List.of(accuracy),
            settings.workload().isRanked() ? ranking.auc() : OptionalDouble.empty(),
            finalLoss,
            List.of(digest()),
            Timing.ofWorkers(speed, nanos),
            rows.stream().mapToLong(WorkerResults.Row::bytesSent).sum(),
            OptionalDouble.empty(),
            List.of(),
            OptionalLong.empty(),
            Optional.empty(),
            OptionalLong.empty());
    return new ServedResult(outcome, facts(rows, updates, lost));
  }

  private ServingFacts facts(
      List<WorkerResults.Row> rows, Optional<SynchronousUpdates> updates, List<Integer> lost) {
    Servers servers = training.servers();
    long taken =
        rows.stream()
            .mapToLong(row -> Arrays.stream(row.losses()).filter(Double::isFinite).count())
            .sum();
    long known = rows.stream().filter(row -> row.done() && row.requests() >= 0).count();
    long requests = rows.stream().mapToLong(WorkerResults.Row::requests).sum();
    double counted = updates.map(SynchronousUpdates::counted).orElse(0.0);
    return new ServingFacts(
        servers.via().toString(),
        servers.workers(),
        servers.servers(),
        training.settings().sync() instanceof Sync.Asynchronous ? "async" : "sync",
        servers.backup(),
        known == 0 || taken == 0 ? null : (Double) ((double) requests / taken),
        updates.isPresent() ? taken - Math.round(counted) : 0,
        lost);
  }

  /// Returns, for each step number, the mean loss over the workers that took the step.
  private List<Double> means(List<WorkerResults.Row> rows) {
    int workers = training.servers().workers();
    List<Double> losses = new ArrayList<>();
    int steps = rows.getFirst().losses().length;
    for (int step = plan.begin(); step < steps; step++) {
      double sum = 0;
      int count = 0;
      for (int worker = 0; worker < workers; worker++) {
        WorkerResults.Row row = rows.get(worker);
        if (row.done() && Double.isFinite(row.losses()[step])) {
          sum += row.losses()[step];
          count += plan.columns().width(worker, workers);
        }
      }
      losses.add(sum / count);
    }
    return losses;
  }

  private long judge(Examples examples, Ranking ranking) throws InterruptedException {
    long correct = 0;
    for (int first = 0; first < examples.count(); first += TEST_BATCH) {
      int size = Math.min(TEST_BATCH, examples.count() - first);
      try (var feed = new Feed(examples, size)) {
        feed.fill(first);
        var feeds =
            Map.of(Replica.FEEDS.get(0), feed.features(), Replica.FEEDS.get(1), feed.labels());
        try (Fetched fetched = session.run(replica.judgement(), feeds, plan.limit())) {
          correct += ((TInt32) fetched.get(0)).getInt();
          if (!replica.scores().isEmpty()) {
            TFloat32 scores = (TFloat32) fetched.get(1);
            for (int i = 0; i < size; i++) {
              ranking.add(scores.getFloat(i), examples.labels()[first + i]);
            }
          }
        }
      }
    }
    return correct;
  }

  private String digest() throws InterruptedException {
    var call = new GraphCall(List.of(), replica.weights(), List.of());
    try (Fetched fetched = session.run(call, Map.of(), plan.limit())) {
      SortedMap<String, TensorView> weights = new TreeMap<>();
      for (int i = 0; i < fetched.size(); i++) {
        String name = replica.weights().get(i);
        weights.put(name.substring(0, name.lastIndexOf(':')), TensorViews.of(fetched.get(i)));
      }
      return WeightsDigest.of(weights);
    }
  }
}
