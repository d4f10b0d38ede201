// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.collective.Communicator;
import io.weft.kv.KvWorker;
import io.weft.kv.spec.TableCounts;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.WeftOps;
import io.weft.tensorflow.WeightsDigest;
import io.weft.workloads.clicks.Ids;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.EmbeddedModel;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.model.Learned;
import io.weft.workloads.parameterserver.ServedTraining;
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

/// A worker's wide and deep network with its embeddings in tables. Confined to one thread. Owns
/// graph and session.
final class EmbeddingModel implements WorkerModel {

  private final int columns;
  private final EmbeddedModel model;
  private final EmbeddingTables tables;
  private final Placeholder<TFloat32> factor;
  private final List<Operation> updates = new ArrayList<>();
  private final Session session;
  private final KeyFeed feed;

  /// Registers its tables. Every worker must create the model.
  ///
  /// @param width examples of a step
  EmbeddingModel(ServedTraining training, KvWorker store, Examples mine, int width)
      throws InterruptedException {
    TrainingSettings settings = training.settings();
    this.columns = mine.features() / Ids.BYTES;
    this.tables = EmbeddingTables.register(training, store);
    this.model = EmbeddedModel.of(columns, settings.seed(), tables.tables());
    Graph graph = model.graph();
    Ops tf = Ops.create(graph);
    this.factor = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.scalar()));
    update(tf, settings, store.workers());
    this.session = new Session(graph, OpLibrary.load().sessionConfig(graph, training.threads()));
    session.initialize();
    this.feed = new KeyFeed(mine, width);
  }

  /// Adds one backward pass for the gradients of the looked-up rows and of the dense layers, and
  /// the updates that use them.
  private void update(Ops tf, TrainingSettings settings, Communicator workers) {
    List<Output<?>> by = new ArrayList<>(model.lookedUp());
    int dense = by.size();
    by.addAll(
        model
            .lookups()
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
    updates.add(
        wide.push(tf, wide.slices(tf, List.of(model.lookups().wide()), List.of(gradients.get(0)))));
    updates.add(
        deep.push(tf, deep.slices(tf, List.of(model.lookups().deep()), List.of(gradients.get(1)))));
    List<Output<TFloat32>> rest = gradients.subList(dense, gradients.size());
    if (model.lookups().learned().isPresent()) {
      updates.add(
          tables
              .tables()
              .dense()
              .orElseThrow()
              .push(tf, model.lookups().learned().get().slices(rest)));
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

  @Override
  public long parameters() {
    return EmbeddedModel.parameters(columns);
  }

  @Override
  public double step(int[] order, int from, float scale) throws InterruptedException {
    feed.fill(order, from);
    double loss;
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
        loss = ((TFloat32) result.get(0)).getFloat();
      }
    }
    tables.clock();
    return loss;
  }

  @Override
  public void flush() throws InterruptedException {
    tables.flush();
  }

  @Override
  public TableCounts counts() {
    return tables.counts();
  }

  @Override
  public void finish() {}

  @Override
  public Evaluation evaluate(Examples examples) throws InterruptedException {
    int[] order = IntStream.range(0, examples.count()).toArray();
    return Evaluation.of(
        examples,
        (first, size, scores) -> {
          try (var batch = new KeyFeed(examples, size)) {
            batch.fill(order, first);
            try (Result result =
                session
                    .runner()
                    .feed(model.keys(), batch.keys())
                    .feed(model.labels(), batch.labels())
                    .fetch(model.correct())
                    .fetch(model.score())
                    .run()) {
              scores.accept((TFloat32) result.get(1));
              return ((TInt32) result.get(0)).getInt();
            }
          }
        });
  }

  @Override
  public String digest() {
    return WeightsDigest.of(session, model.weights());
  }

  @Override
  public void close() {
    feed.close();
    session.close();
    model.close();
    tables.close();
  }
}
