// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.collective.Communicator;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.WeftOps;
import io.weft.tensorflow.WeightsDigest;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.EmbeddedModel;
import io.weft.workloads.model.Learned;
import io.weft.workloads.model.Ranking;
import io.weft.workloads.training.TrainingSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.Optimizer.GradAndVar;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

/// A worker's network in a TensorFlow session, which takes steps and evaluates examples. Confined
/// to one thread. Owns graph and session.
final class EmbeddingReplica implements AutoCloseable {

  private static final int TEST_BATCH = 500;

  private final EmbeddedModel model;
  private final EmbeddingTables tables;
  private final Placeholder<TFloat32> factor;
  private final List<Operation> updates = new ArrayList<>();
  private final Session session;

  /// @param columns of categories
  /// @param workers that sum the dense layers' gradients, if no server keeps these layers
  /// @param threads that compute
  EmbeddingReplica(
      TrainingSettings settings,
      int columns,
      EmbeddingTables tables,
      Communicator workers,
      int threads) {
    this.tables = tables;
    this.model = EmbeddedModel.of(columns, settings.seed(), tables.tables());
    Graph graph = model.graph();
    Ops tf = Ops.create(graph);
    this.factor = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.scalar()));
    update(tf, settings, workers);
    this.session = new Session(graph, OpLibrary.load().sessionConfig(graph, threads));
    session.initialize();
  }

  /// Adds one backward pass for the gradients of the looked-up rows and of the dense layers, and
  /// the updates that use them.
  private void update(Ops tf, TrainingSettings settings, Communicator workers) {
    List<Output<?>> by = new ArrayList<>(model.lookedUp());
    int dense = by.size();
    by.addAll(
        model
            .learned()
            .<List<? extends Output<?>>>map(Learned::parts)
            .orElseGet(() -> model.variables().stream().map(Operand::asOutput).toList()));
    Operand<TFloat32> loss = tf.math.mul(model.lossSum(), factor);
    Output<?>[] found = model.graph().addGradients(loss.asOutput(), by.toArray(Output<?>[]::new));
    List<Output<TFloat32>> gradients = new ArrayList<>();
    for (Output<?> each : found) {
      gradients.add(each.expect(TFloat32.class));
    }
    var wide = tables.tables().wide();
    var deep = tables.tables().deep();
    updates.add(wide.push(tf, wide.slices(tf, List.of(model.wide()), List.of(gradients.get(0)))));
    updates.add(deep.push(tf, deep.slices(tf, List.of(model.deep()), List.of(gradients.get(1)))));
    List<Output<TFloat32>> rest = gradients.subList(dense, gradients.size());
    if (model.learned().isPresent()) {
      updates.add(
          tables.tables().dense().orElseThrow().push(tf, model.learned().get().slices(rest)));
    } else {
      updates.add(allreduced(settings, workers, rest));
    }
  }

  /// Updates the dense layers by the sum of all workers' gradients, equally on all workers.
  private Operation allreduced(
      TrainingSettings settings, Communicator workers, List<Output<TFloat32>> gradients) {
    Graph graph = model.graph();
    List<Operand<?>> sums =
        new WeftOps(graph, workers).groupedAllreduce(gradients, "dense", ReduceOp.SUM);
    List<GradAndVar<?>> pairs = new ArrayList<>();
    for (int i = 0; i < sums.size(); i++) {
      pairs.add(
          new GradAndVar<>(
              sums.get(i).asOutput().expect(TFloat32.class), model.variables().get(i).asOutput()));
    }
    return settings
        .optimizer()
        .in(graph, settings.rate())
        .applyGradients(pairs, "dense_update")
        .op();
  }

  /// Takes a step. Returns the loss, summed over the batch.
  ///
  /// @param scale the factor by which the gradients of the sum are multiplied
  double step(KeyFeed feed, float scale) {
    try (TFloat32 by = TFloat32.scalarOf(scale)) {
      Session.Runner runner =
          session
              .runner()
              .feed(model.keys(), feed.keys())
              .feed(model.labels(), feed.labels())
              .feed(factor, by)
              .fetch(model.lossSum());
      updates.forEach(runner::addTarget);
      try (Result result = runner.run()) {
        return ((TFloat32) result.get(0)).getFloat();
      }
    }
  }

  /// Returns the number of correct predictions, and adds the scores to `ranking`.
  long judge(Examples examples, Ranking ranking) {
    long correct = 0;
    int[] order = IntStream.range(0, examples.count()).toArray();
    for (int first = 0; first < examples.count(); first += TEST_BATCH) {
      int size = Math.min(TEST_BATCH, examples.count() - first);
      try (var feed = new KeyFeed(examples, size)) {
        feed.fill(order, first);
        try (Result result =
            session
                .runner()
                .feed(model.keys(), feed.keys())
                .feed(model.labels(), feed.labels())
                .fetch(model.correct())
                .fetch(model.score())
                .run()) {
          correct += ((TInt32) result.get(0)).getInt();
          TFloat32 scores = (TFloat32) result.get(1);
          for (int i = 0; i < size; i++) {
            ranking.add(scores.getFloat(i), examples.labels()[first + i]);
          }
        }
      }
    }
    return correct;
  }

  /// Returns a fingerprint of the weights of the dense layers.
  String digest() {
    return WeightsDigest.of(session, model.weights());
  }

  @Override
  public void close() {
    session.close();
    model.close();
  }
}
