// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.Weft;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.spark.RankBody;
import io.weft.spark.SparkRank;
import io.weft.spark.ml.NetworkFactory.Network;
import io.weft.spark.ml.NetworkFactory.NetworkInput;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.DistributedOptimizer;
import io.weft.tensorflow.GradientOptions;
import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.WeftVariables;
import io.weft.tensorflow.WeightsDigest;
import java.io.IOException;
import java.io.Serial;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.sql.Row;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;

/// The training of a network on one rank. Each rank goes through its own rows; a rank that has
/// fewer batches than the others joins, and takes the weights of the rank that trained longest
/// before the next epoch. The gradient of a step is that of the sum of all ranks' weighted losses,
/// divided by the rows of n full batches.
final class GraphTraining implements RankBody<Row, TrainedRank> {

  @Serial private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(GraphTraining.class);

  private final TrainingSpec spec;

  GraphTraining(TrainingSpec spec) {
    this.spec = spec;
  }

  @Override
  public TrainedRank run(SparkRank<Row> rank) throws Exception {
    try (RowFile rows = RowFile.write(rank.partition(), spec.reader(), spec.weighted())) {
      int width = width(rank, rows);
      OpLibrary library = OpLibrary.load();
      Weft weft = rank.weft();
      var options = DataParallelOptions.of(weft.config()).named("spark");
      try (Graph graph = new Graph();
          DataParallel parallel =
              DataParallel.open(
                  weft, options.fusion() == Fusion.OFF ? options.with(Fusion.AUTO) : options)) {
        Ends ends = build(graph, weft, parallel, width);
        List<Operand<?>> weights = weights(graph);
        int threads = rank.place().processors();
        try (Session session = new Session(graph, library.sessionConfig(graph, threads))) {
          session.initialize();
          return train(new Run(rank, rows, parallel, session), ends, weights);
        }
      }
    }
  }

  /// Returns the number of features of all ranks' rows. Throws `IllegalArgumentException` if all
  /// partitions are empty, or if this rank's rows are narrower than those of another rank.
  private static int width(SparkRank<Row> rank, RowFile rows) throws InterruptedException {
    int width = (int) RankNumbers.of(rank.weft(), "spark/width", ReduceOp.MAX, rows.width())[0];
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

  /// The ends of the graph.
  ///
  /// @param features placeholder of a batch's features
  /// @param labels placeholder of its labels
  /// @param weights placeholder of its weights
  /// @param output the network's output
  /// @param lossSum the sum of the weighted losses of the batch
  /// @param step averages gradients and updates the weights
  private record Ends(
      Operand<TFloat32> features,
      Operand<TFloat32> labels,
      Operand<TFloat32> weights,
      Operand<TFloat32> output,
      Operand<TFloat32> lossSum,
      Op step) {}

  private Ends build(Graph graph, Weft weft, DataParallel parallel, int width) {
    Ops tf = Ops.create(graph);
    var features =
        tf.withName("spark_features")
            .placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, width)));
    var labels =
        tf.withName("spark_labels").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
    var weights =
        tf.withName("spark_weights").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
    Network network =
        spec.network()
            .build(graph, new NetworkInput(features, labels, width, spec.classes(), spec.seed()));
    if (WeftVariables.variables(graph).isEmpty()) {
      throw new IllegalArgumentException(
          "the network of " + spec.network() + " has no variable, so it cannot be trained");
    }
    var lossSum = tf.sum(tf.math.mul(network.losses(), weights), tf.constant(0));
    var loss = tf.math.div(lossSum, tf.constant((float) spec.batchSize()));
    Op step =
        new DistributedOptimizer(
                weft.communicator(), parallel, network.optimizer(), GradientOptions.DEFAULT)
            .minimize(loss);
    return new Ends(features, labels, weights, network.output(), lossSum, step);
  }

  /// Returns the values of all variables, for the fingerprint.
  private static List<Operand<?>> weights(Graph graph) {
    List<Operand<?>> values = new ArrayList<>();
    for (GraphOperation variable : WeftVariables.variables(graph)) {
      values.add(
          WeftVariables.resource(variable)
              ? graph
                  .opBuilder("ReadVariableOp", "spark_read/" + variable.name(), graph.baseScope())
                  .addInput(variable.output(0))
                  .setAttr("dtype", variable.attributes().getAttrType("dtype"))
                  .build()
                  .output(0)
              : variable.output(0));
    }
    return values;
  }

  /// A training in progress.
  private record Run(SparkRank<Row> rank, RowFile rows, DataParallel parallel, Session session) {

    Weft weft() {
      return rank.weft();
    }
  }

  private TrainedRank train(Run run, Ends ends, List<Operand<?>> weights)
      throws IOException, InterruptedException {
    Weft weft = run.weft();
    EpochCheckpoints checkpoints = new EpochCheckpoints(spec.checkpoints());
    int first = checkpoints.restore(run.session(), weft);
    WeftVariables.broadcast(run.session(), weft, 0);
    List<Double> losses = new ArrayList<>();
    for (int epoch = first; epoch < spec.epochs(); epoch++) {
      losses.add(epoch(run, ends, epoch));
      if (weft.rank() == 0) {
        LOG.info("epoch {} of {}: loss {}", epoch + 1, spec.epochs(), losses.getLast());
        checkpoints.save(run.session(), epoch + 1);
      }
    }
    String digest = WeightsDigest.of(run.session(), weights);
    SavedNetwork network =
        weft.rank() == 0 ? SavedNetwork.of(run.session(), ends.features(), ends.output()) : null;
    return new TrainedRank(
        run.rank().place().executor(), run.rows().count(), digest, losses, network);
  }

  /// Trains an epoch and returns the mean loss of all ranks' rows.
  private double epoch(Run run, Ends ends, int epoch) throws InterruptedException {
    Weft weft = run.weft();
    int[] order = order(run.rows().count(), epoch, weft.rank());
    double sum = 0;
    for (int at = 0; at < order.length; at += spec.batchSize()) {
      sum += step(run, ends, order, at);
    }
    if (weft.size() > 1) {
      int last = run.parallel().reducer(weft.communicator()).join().await();
      WeftVariables.broadcast(run.session(), weft, last);
    }
    double weight = 0;
    for (int row = 0; row < run.rows().count(); row++) {
      weight += run.rows().weight(row);
    }
    double[] all = RankNumbers.of(weft, "spark/loss", ReduceOp.SUM, sum, weight);
    return all[1] == 0 ? 0 : all[0] / all[1];
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

  /// Runs the step of a batch and returns the sum of its weighted losses.
  private double step(Run run, Ends ends, int[] order, int from) {
    int size = Math.min(spec.batchSize(), order.length - from);
    int width = run.rows().width();
    float[] features = new float[Math.multiplyExact(size, width)];
    float[] labels = new float[size];
    float[] weights = new float[size];
    for (int i = 0; i < size; i++) {
      int row = order[from + i];
      run.rows().features(row, features, i * width);
      labels[i] = run.rows().label(row);
      weights[i] = run.rows().weight(row);
    }
    try (TFloat32 x = Batches.tensor(features, size, width);
        TFloat32 y = Batches.tensor(labels, size);
        TFloat32 w = Batches.tensor(weights, size);
        Result result =
            run.session()
                .runner()
                .feed(ends.features(), x)
                .feed(ends.labels(), y)
                .feed(ends.weights(), w)
                .fetch(ends.lossSum())
                .addTarget(ends.step())
                .run()) {
      return ((TFloat32) result.get(0)).getFloat();
    }
  }
}
