// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.Weft;
import io.weft.spark.RankBody;
import io.weft.spark.SparkRank;
import io.weft.spark.model.ModelInput;
import io.weft.spark.model.RowBatch;
import io.weft.spark.model.TrainableModel;
import io.weft.tensor.ReduceOp;
import java.io.IOException;
import java.io.Serial;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.sql.Row;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The training of a model on one rank. Each rank goes through its own rows; a rank that has fewer
/// batches than the others waits at the end of the epoch, and takes the values of the rank that
/// trained longest.
final class EpochTraining implements RankBody<Row, TrainedRank> {

  @Serial private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(EpochTraining.class);

  private final TrainingSpec spec;

  EpochTraining(TrainingSpec spec) {
    this.spec = spec;
  }

  @Override
  public TrainedRank run(SparkRank<Row> rank) throws Exception {
    try (RowFile rows = RowFile.write(rank.partition(), spec.reader(), spec.weighted())) {
      var input =
          new ModelInput(
              width(rank, rows),
              spec.classes(),
              spec.batchSize(),
              spec.seed(),
              rank.place().processors());
      try (TrainableModel model = spec.network().create(rank.weft(), input)) {
        return train(new Run(rank, rows, model));
      }
    }
  }

  /// Returns the number of features of all ranks' rows. Throws `IllegalArgumentException` if all
  /// partitions are empty, or if this rank's rows are narrower than those of another rank.
  private static int width(SparkRank<Row> rank, RowFile rows) throws InterruptedException {
    double[] widest =
        RankNumbers.afterReading(rank.weft(), "spark/width", ReduceOp.MAX, rows.width());
    int width = (int) widest[0];
    if (width == 0) {
      throw new IllegalArgumentException(
          "the data has no rows in any of its " + rank.size() + " partitions");
    }
    if (rows.count() > 0 && rows.width() != width) {
      throw new IllegalArgumentException(
          "the rows of partition %d have %d features and those of another one %d; all rows must have equally many"
              .formatted(rank.rank(), rows.width(), width));
    }
    return width;
  }

  /// A training in progress.
  private record Run(SparkRank<Row> rank, RowFile rows, TrainableModel model) {}

  private TrainedRank train(Run run) throws IOException, InterruptedException {
    Weft weft = run.rank().weft();
    EpochCheckpoints checkpoints = new EpochCheckpoints(spec.checkpoints());
    int first = checkpoints.restore(run.model(), weft);
    run.model().broadcast(0);
    List<Double> losses = new ArrayList<>();
    double stepMillis = Double.NaN;
    for (int epoch = first; epoch < spec.epochs(); epoch++) {
      run.rank().progress().epoch(epoch + 1);
      TrainedEpoch trained = epoch(run, epoch);
      losses.add(trained.loss());
      stepMillis = trained.stepMillis();
      if (weft.rank() == 0) {
        LOG.info("epoch {} of {}: loss {}", epoch + 1, spec.epochs(), losses.getLast());
        checkpoints.save(run.model(), epoch + 1);
      }
    }
    return new TrainedRank(
        run.rank().place().executor(),
        run.rows().count(),
        run.model().digest(),
        losses,
        stepMillis,
        weft.rank() == 0 ? run.model().trained() : null);
  }

  /// A completed epoch.
  ///
  /// @param loss the mean loss of all ranks' rows
  /// @param stepMillis the median duration of this rank's steps; NaN if it has no rows
  private record TrainedEpoch(double loss, double stepMillis) {}

  private TrainedEpoch epoch(Run run, int epoch) throws InterruptedException {
    Weft weft = run.rank().weft();
    int[] order = order(run.rows().count(), epoch, weft.rank());
    long[] nanos = new long[Math.ceilDiv(order.length, spec.batchSize())];
    double sum = 0;
    double weight = 0;
    for (int at = 0; at < order.length; at += spec.batchSize()) {
      long begin = System.nanoTime();
      RowBatch batch = batch(run.rows(), order, at);
      double ofBatch = 0;
      for (float each : batch.weights()) {
        ofBatch += each;
      }
      double losses = run.model().step(batch);
      run.rank().progress().step(batch.rows(), ofBatch == 0 ? 0 : losses / ofBatch);
      sum += losses;
      weight += ofBatch;
      nanos[at / spec.batchSize()] = System.nanoTime() - begin;
    }
    run.model().endEpoch();
    double[] all = RankNumbers.of(weft, "spark/loss", ReduceOp.SUM, sum, weight);
    return new TrainedEpoch(all[1] == 0 ? 0 : all[0] / all[1], medianMillis(nanos));
  }

  private static double medianMillis(long[] nanos) {
    Arrays.sort(nanos);
    return nanos.length == 0 ? Double.NaN : nanos[nanos.length / 2] / 1e6;
  }

  /// Returns the order of the rows in an epoch, which depends on seed, epoch and rank only.
  private int[] order(int rows, int epoch, int rank) {
    int[] order = new int[rows];
    var random =
        new SplittableRandom(spec.seed() * 0x9e3779b97f4a7c15L + ((long) epoch << 32) + rank);
    for (int i = 0; i < rows; i++) {
      int swapped = random.nextInt(i + 1);
      order[i] = order[swapped];
      order[swapped] = i;
    }
    return order;
  }

  private RowBatch batch(RowFile rows, int[] order, int from) {
    int size = Math.min(spec.batchSize(), order.length - from);
    int width = rows.width();
    float[] features = new float[Math.multiplyExact(size, width)];
    float[] labels = new float[size];
    float[] weights = new float[size];
    for (int i = 0; i < size; i++) {
      int row = order[from + i];
      rows.features(row, features, i * width);
      labels[i] = rows.label(row);
      weights[i] = rows.weight(row);
    }
    return new RowBatch(features, labels, weights);
  }
}
