// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.kv.KeyValueStore;
import io.weft.kv.spec.TableCounts;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.workloads.batch.Columns;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Ranking;
import io.weft.workloads.model.Workload;
import io.weft.workloads.parameterserver.SameData;
import io.weft.workloads.parameterserver.ServedResult;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.parameterserver.ServingFacts;
import io.weft.workloads.training.Timing;
import io.weft.workloads.training.TrainingException;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingOutcome;
import io.weft.workloads.training.TrainingSettings;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/// A worker. It reads its share of the data, trains, and shares its results with the other workers.
/// Confined to one thread.
final class KeyValueWorker {

  private static final int FINAL_STEPS = 50;

  /// The numbers before the losses in a worker's results: examples, seconds, pushes, pulls, bytes
  /// sent, staleness.
  private static final int FACTS = 6;

  private final KeyValueTraining training;
  private final TrainingSettings settings;
  private final KeyValueStore store;
  private final Communicator workers;
  private final List<Long> nanos = new ArrayList<>();

  KeyValueWorker(KeyValueTraining training, KeyValueStore store) {
    this.training = training;
    this.settings = training.settings();
    this.store = store;
    this.workers = store.workers();
  }

  /// Trains. The first worker returns the result, the other workers return empty.
  Optional<ServedResult> run() throws InterruptedException {
    Examples all = training.source().train();
    SameData.require(training.weft(), workers, all);
    Columns columns = columns(all);
    Examples mine = all.select(columns.rows(workers.rank(), workers.size()));
    int width = columns.width(workers.rank(), workers.size());
    try (WorkerModel model = model(mine, width)) {
      tell(
          observer ->
              observer.onStart(
                  new TrainingObserver.Start(
                      training.source().name(),
                      model.parameters(),
                      all.count(),
                      columns.steps(),
                      0)));
      store.barrier();
      double[] losses = train(columns, width, model);
      List<double[]> told = told(model, losses, width);
      model.finish();
      List<String> digests = digests(model);
      // No worker leaves, and no table changes, before the first worker has evaluated the model.
      Optional<ServedResult> result =
          workers.rank() == 0
              ? Optional.of(result(told, digests, columns, model))
              : Optional.empty();
      store.barrier();
      return result;
    }
  }

  private WorkerModel model(Examples mine, int width) throws InterruptedException {
    return settings.workload() == Workload.WIDE_DEEP
        ? EmbeddingModel.of(training, store, mine, width)
        : new DenseModel(training, store, mine, width);
  }

  private Columns columns(Examples all) {
    if (settings.batch() > all.count() || settings.batch() < workers.size()) {
      throw new TrainingException.Unfit(
          "--batch %d: expected from %d, the workers, to %d, the examples to train on"
              .formatted(settings.batch(), workers.size(), all.count()));
    }
    return new Columns(all.count(), settings.batch(), settings.seed());
  }

  /// Takes all steps. One step of each worker moves the model as far as one step of a single
  /// process.
  private double[] train(Columns columns, int width, WorkerModel model)
      throws InterruptedException {
    int steps = columns.steps() * settings.epochs();
    double[] losses = new double[steps];
    double epochLoss = 0;
    long start = System.nanoTime();
    int[] order = {};
    for (int step = 0; step < steps; step++) {
      int at = step % columns.steps();
      if (at == 0) {
        order = columns.order(step / columns.steps(), workers.rank(), workers.size());
      }
      long begin = System.nanoTime();
      losses[step] = model.step(order, at * width, rateFactor(step, steps) / settings.batch());
      long now = System.nanoTime();
      nanos.add(now - begin);
      requireFinite(losses[step], step);
      epochLoss += losses[step] / width;
      tell(step, columns, losses[step] / width, (now - start) / 1e9);
      if (at + 1 == columns.steps()) {
        double mean = epochLoss / columns.steps();
        epochLoss = 0;
        int epoch = step / columns.steps() + 1;
        tell(
            observer ->
                observer.onEpoch(new TrainingObserver.TrainedEpoch(epoch, mean, Double.NaN)));
      }
    }
    model.flush();
    return losses;
  }

  /// Returns a factor that falls linearly to 0 if updates scale with the gradients, else 1.
  private float rateFactor(int step, int steps) {
    return settings.optimizer().followsGradientScale() ? (float) (1 - step / (double) steps) : 1;
  }

  private void requireFinite(double loss, int step) {
    if (!Double.isFinite(loss)) {
      throw new TrainingException.Diverged(
          "the loss became %s in step %d of worker %d; give a smaller --lr than %s"
              .formatted(loss, step + 1, workers.rank(), settings.rate()));
    }
  }

  private void tell(int step, Columns columns, double loss, double seconds) {
    tell(
        observer ->
            observer.onStep(
                new TrainingObserver.TrainedStep(
                    step / columns.steps() + 1, step % columns.steps() + 1, loss, seconds)));
  }

  private void tell(Consumer<TrainingObserver> what) {
    if (workers.rank() == 0) {
      what.accept(training.observer());
    }
  }

  /// Returns the results of all workers, by rank.
  private List<double[]> told(WorkerModel model, double[] losses, int share)
      throws InterruptedException {
    int width = FACTS + losses.length;
    try (TensorLease own = training.weft().allocate(DType.FLOAT64, Shape.of(1, width))) {
      double seconds = nanos.stream().mapToLong(Long::longValue).sum() / 1e9;
      double[] numbers = new double[width];
      numbers[0] = (double) losses.length * share;
      numbers[1] = seconds;
      TableCounts counts = model.counts();
      numbers[2] = counts.pushes();
      numbers[3] = counts.pulls();
      numbers[4] = training.weft().bytesSent();
      numbers[5] = counts.staleness();
      System.arraycopy(losses, 0, numbers, FACTS, losses.length);
      own.view().data().copyFrom(MemorySegment.ofArray(numbers));
      List<double[]> all = new ArrayList<>();
      try (TensorLease gathered =
          workers.allgather(own.view(), CollectiveOptions.named("weft-train/told")).await()) {
        double[] flat = gathered.view().data().toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED);
        for (int at = 0; at < flat.length; at += width) {
          all.add(Arrays.copyOfRange(flat, at, at + width));
        }
      }
      return all;
    }
  }

  /// Returns fingerprints of the dense layers: those of each worker, or the one of the servers.
  private List<String> digests(WorkerModel model) throws InterruptedException {
    if (training.servers().dense() == Servers.Dense.SERVERS) {
      return workers.rank() == 0 ? List.of(model.digest()) : List.of();
    }
    byte[] mine = model.digest().getBytes(StandardCharsets.US_ASCII);
    List<String> all = new ArrayList<>();
    try (TensorLease own = training.weft().allocate(DType.UINT8, Shape.of(1, mine.length))) {
      own.view().data().copyFrom(MemorySegment.ofArray(mine));
      try (TensorLease gathered =
          workers.allgather(own.view(), CollectiveOptions.named("weft-train/digests")).await()) {
        byte[] flat = gathered.view().data().toArray(ValueLayout.JAVA_BYTE);
        for (int at = 0; at < flat.length; at += mine.length) {
          all.add(new String(flat, at, mine.length, StandardCharsets.US_ASCII));
        }
      }
    }
    return all;
  }

  private ServedResult result(
      List<double[]> told, List<String> digests, Columns columns, WorkerModel model)
      throws InterruptedException {
    Examples test = training.source().test();
    var ranking = new Ranking();
    double accuracy = model.judge(test, ranking) / (double) test.count();
    int steps = columns.steps() * settings.epochs();
    List<Double> losses = new ArrayList<>();
    for (int step = 0; step < steps; step++) {
      int at = FACTS + step;
      losses.add(told.stream().mapToDouble(it -> it[at]).sum() / settings.batch());
    }
    double finalLoss =
        losses.stream()
            .skip(Math.max(0, losses.size() - FINAL_STEPS))
            .collect(Collectors.averagingDouble(loss -> loss));
    double speed = told.stream().mapToDouble(it -> it[0] / it[1]).sum();
    var outcome =
        new TrainingOutcome(
            training.source().name(),
            losses,
            List.of(accuracy),
            settings.workload().isRanked() ? ranking.auc() : OptionalDouble.empty(),
            finalLoss,
            digests,
            Timing.ofWorkers(speed, nanos),
            (long) told.stream().mapToDouble(it -> it[4]).sum(),
            OptionalDouble.empty(),
            List.of(),
            OptionalLong.empty(),
            Optional.empty(),
            OptionalLong.empty());
    var facts =
        new ServingFacts(
            training.servers().via().toString(),
            training.servers().workers(),
            training.servers().servers(),
            settings.sync().toString(),
            0,
            null,
            0,
            List.of(),
            new ServingFacts.Tables(
                (long) told.stream().mapToDouble(it -> it[2]).sum(),
                (long) told.stream().mapToDouble(it -> it[3]).sum(),
                new ServingFacts.Staleness(
                    (long) told.stream().mapToDouble(it -> it[5]).max().orElse(0))));
    return new ServedResult(outcome, facts);
  }
}
