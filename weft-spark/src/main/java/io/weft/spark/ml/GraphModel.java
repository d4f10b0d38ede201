// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.Weft;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.spark.ml.NetworkFactory.Network;
import io.weft.spark.ml.NetworkFactory.NetworkInput;
import io.weft.spark.model.ModelInput;
import io.weft.spark.model.RowBatch;
import io.weft.spark.model.TrainableModel;
import io.weft.tensorflow.DistributedOptimizer;
import io.weft.tensorflow.GradientOptions;
import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.WeftVariables;
import io.weft.tensorflow.WeightsDigest;
import io.weft.tensorflow.saved.WeftCheckpoint;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
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

/// A graph of TensorFlow in training on one rank.
final class GraphModel implements TrainableModel {

  private static final String VARIABLES = "variables";

  private final Weft weft;
  private final Graph graph;
  private final DataParallel parallel;
  private final Session session;
  private final Ends ends;

  private GraphModel(Weft weft, Graph graph, DataParallel parallel, Session session, Ends ends) {
    this.weft = weft;
    this.graph = graph;
    this.parallel = parallel;
    this.session = session;
    this.ends = ends;
  }

  /// The ends of the graph.
  ///
  /// @param features placeholder of a batch's features
  /// @param labels placeholder of its labels
  /// @param weights placeholder of its weights
  /// @param output the network's output
  /// @param lossSum the sum of the weighted losses of the batch
  /// @param step averages gradients and updates the weights
  /// @param values the values of all variables, for the fingerprint
  private record Ends(
      Operand<TFloat32> features,
      Operand<TFloat32> labels,
      Operand<TFloat32> weights,
      Operand<TFloat32> output,
      Operand<TFloat32> lossSum,
      Op step,
      List<Operand<?>> values) {}

  /// Builds the graph of a factory, and initializes its variables.
  static GraphModel create(NetworkFactory factory, Weft weft, ModelInput input) {
    OpLibrary library = OpLibrary.load();
    var options = DataParallelOptions.of(weft.config()).named("spark");
    var graph = new Graph();
    DataParallel parallel = null;
    Session session = null;
    try {
      parallel =
          DataParallel.open(
              weft, options.fusion() == Fusion.OFF ? options.with(Fusion.AUTO) : options);
      Ends ends = build(factory, graph, new Averaging(weft, parallel), input);
      session = new Session(graph, library.sessionConfig(graph, input.processors()));
      session.initialize();
      return new GraphModel(weft, graph, parallel, session, ends);
    } catch (RuntimeException | Error failed) {
      close(session, parallel, graph);
      throw failed;
    }
  }

  private static void close(
      @Nullable Session session, @Nullable DataParallel parallel, Graph graph) {
    if (session != null) {
      session.close();
    }
    if (parallel != null) {
      parallel.close();
    }
    graph.close();
  }

  /// The averaging of gradients in a graph.
  private record Averaging(Weft weft, DataParallel parallel) {}

  private static Ends build(
      NetworkFactory factory, Graph graph, Averaging averaging, ModelInput input) {
    Ops tf = Ops.create(graph);
    var features =
        tf.withName("spark_features")
            .placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, input.width())));
    var labels =
        tf.withName("spark_labels").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
    var weights =
        tf.withName("spark_weights").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
    Network network =
        factory.build(
            graph,
            new NetworkInput(features, labels, input.width(), input.classes(), input.seed()));
    if (WeftVariables.variables(graph).isEmpty()) {
      throw new IllegalArgumentException(
          "the network of " + factory + " has no variable, so it cannot be trained");
    }
    var lossSum = tf.sum(tf.math.mul(network.losses(), weights), tf.constant(0));
    var loss = tf.math.div(lossSum, tf.constant((float) input.batchSize()));
    Op step =
        new DistributedOptimizer(
                averaging.weft().communicator(),
                averaging.parallel(),
                network.optimizer(),
                GradientOptions.DEFAULT)
            .minimize(loss);
    return new Ends(features, labels, weights, network.output(), lossSum, step, values(graph));
  }

  private static List<Operand<?>> values(Graph graph) {
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

  @Override
  public double step(RowBatch batch) {
    int rows = batch.rows();
    try (TFloat32 x = Batches.tensor(batch.features(), rows, batch.features().length / rows);
        TFloat32 y = Batches.tensor(batch.labels(), rows);
        TFloat32 w = Batches.tensor(batch.weights(), rows);
        Result result =
            session
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

  @Override
  public void endEpoch() throws InterruptedException {
    if (weft.size() > 1) {
      int last = parallel.reducer(weft.communicator()).join().await();
      WeftVariables.broadcast(session, weft, last);
    }
  }

  @Override
  public void broadcast(int root) throws InterruptedException {
    WeftVariables.broadcast(session, weft, root);
  }

  @Override
  public void save(Path directory) throws IOException {
    WeftCheckpoint.save(session, directory.resolve(VARIABLES));
  }

  @Override
  public void restore(Path directory) throws IOException {
    WeftCheckpoint.restore(session, directory.resolve(VARIABLES));
  }

  @Override
  public String digest() {
    return WeightsDigest.of(session, ends.values());
  }

  @Override
  public SavedNetwork trained() throws IOException {
    return SavedNetwork.of(session, ends.features(), ends.output());
  }

  @Override
  public void close() {
    close(session, parallel, graph);
  }
}
