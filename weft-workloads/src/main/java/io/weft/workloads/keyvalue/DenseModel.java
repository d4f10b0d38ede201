// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.KvTensor;
import io.weft.kv.KvWorker;
import io.weft.kv.spec.TableCounts;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.WeightsDigest;
import io.weft.tensorflow.served.ServedVariables;
import io.weft.workloads.batch.Feed;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.model.Model;
import io.weft.workloads.model.Readings;
import io.weft.workloads.parameterserver.ServedTraining;
import io.weft.workloads.training.TrainingSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.exceptions.TensorFlowException;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

/// A worker's network whose weights and biases are dense tensors on servers. Gradients leave during
/// the backward pass, and values arrive until the next forward pass needs them. Confined to one
/// thread. Owns graph and session.
final class DenseModel implements WorkerModel {

  private final KvWorker store;
  private final TableSettings with;
  private final ServedVariables weights;
  private final List<KvTensor> tensors = new ArrayList<>();
  private final Model model;
  private final Placeholder<TFloat32> factor;
  private final List<Operation> pushes;
  private final Session session;
  private final Feed feed;

  /// Registers the tensors and initializes them. Every worker must create the model.
  ///
  /// @param width examples of a step
  DenseModel(ServedTraining training, KvWorker store, Examples mine, int width)
      throws InterruptedException {
    TrainingSettings settings = training.settings();
    this.store = store;
    this.with = TableSettings.of(settings);
    this.weights = ServedVariables.of(training.weft());
    this.model = settings.model(mine, this::served);
    Ops tf = Ops.create(model.graph());
    this.factor =
        tf.withName("loss_factor").placeholder(TFloat32.class, Placeholder.shape(Shape.scalar()));
    this.pushes = weights.push(tf, tf.math.mul(model.lossSum(), factor));
    this.session =
        new Session(
            model.graph(), OpLibrary.load().sessionConfig(model.graph(), training.threads()));
    this.feed = new Feed(mine, width);
    session.initialize();
    initialize();
    weights.pull();
    weights.flush();
  }

  /// Registers the tensor of a weight or bias and returns its value in the graph.
  private Output<TFloat32> served(Output<TFloat32> value, Operand<TFloat32> input) {
    String read = value.op().name();
    var spec =
        TableSpec.tensor(
                read.substring(0, read.length() - Readings.SUFFIX.length()), value.shape().size())
            .withRule(with.rule())
            .with(with.consistency());
    try {
      KvTensor tensor = store.registerTensor(spec);
      tensors.add(tensor);
      return weights.add(Ops.create((Graph) value.env()), tensor, value.shape(), input);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while registering " + spec.name(), e);
    }
  }

  private void initialize() throws InterruptedException {
    Session.Runner runner = session.runner();
    model.variables().forEach(runner::fetch);
    try (Result first = runner.run()) {
      List<Handle<Void>> open = new ArrayList<>();
      for (int i = 0; i < tensors.size(); i++) {
        open.add(tensors.get(i).init(TensorViews.of(first.get(i)).data()));
      }
      for (Handle<Void> each : open) {
        var unused = each.await();
      }
    }
  }

  @Override
  public long parameters() {
    return model.parameters();
  }

  @Override
  public double step(int[] order, int from, float scale) throws InterruptedException {
    feed.fill(order, from);
    try (TFloat32 by = TFloat32.scalarOf(scale)) {
      Session.Runner runner = runner(feed).feed(factor, by).fetch(model.lossSum());
      pushes.forEach(runner::addTarget);
      double loss = number(runner);
      weights.clock();
      return loss;
    }
  }

  /// Runs a step. Throws the `CommException` of a failed request.
  private double number(Session.Runner runner) {
    try (Result result = runner.run()) {
      return ((TFloat32) result.get(0)).getFloat();
    } catch (TensorFlowException e) {
      throw weights.failure().map(CommException::thrownByWaiter).orElseThrow(() -> e);
    }
  }

  private Session.Runner runner(Feed batch) {
    return session
        .runner()
        .feed(model.features(), batch.features())
        .feed(model.labels(), batch.labels());
  }

  @Override
  public void flush() throws InterruptedException {
    weights.flush();
  }

  @Override
  public TableCounts counts() {
    return store.counts();
  }

  @Override
  public OptionalLong exposedNanos() {
    return OptionalLong.of(weights.exposedNanos());
  }

  @Override
  public void finish() throws InterruptedException {
    weights.pull();
    weights.flush();
  }

  @Override
  public Evaluation evaluate(Examples examples) throws InterruptedException {
    return Evaluation.of(
        examples,
        (first, size, scores) -> {
          try (var batch = new Feed(examples, size)) {
            batch.fill(first);
            try (Result result = runner(batch).fetch(model.correct()).run()) {
              return ((TInt32) result.get(0)).getInt();
            }
          }
        });
  }

  @Override
  public String digest() {
    SortedMap<String, TensorView> named = new TreeMap<>();
    List<TensorView> values = weights.values();
    for (int i = 0; i < values.size(); i++) {
      named.put(tensors.get(i).spec().name(), values.get(i));
    }
    return WeightsDigest.of(named);
  }

  @Override
  public void close() {
    session.close();
    weights.close();
    model.close();
    feed.close();
  }
}
