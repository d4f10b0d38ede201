// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.comm.Handle;
import io.weft.kv.KvTensor;
import io.weft.kv.KvWorker;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableCounts;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.WeightsDigest;
import io.weft.workloads.batch.Feed;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.model.Model;
import io.weft.workloads.parameterserver.ServedTraining;
import io.weft.workloads.training.TrainingSettings;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

/// A worker's network whose weights and biases are dense tensors on servers. A step feeds the last
/// pulled weights to the network, pushes the gradients out of TensorFlow's memory, and pulls into
/// the memory that the next step feeds. Confined to one thread. Owns graph and session.
final class DenseModel implements WorkerModel {

  private final KvWorker store;
  private final Consistency consistency;
  private final Model model;
  private final Placeholder<TFloat32> factor;
  private final List<Output<?>> gradients;
  private final Session session;
  private final Feed feed;
  private final List<Weight> weights = new ArrayList<>();

  /// One variable.
  ///
  /// @param reading its value, as the network uses it
  /// @param tensor on the servers
  /// @param value the tensor that is fed for it
  /// @param priority of its requests; layers that are needed earlier have a higher one
  private record Weight(Output<?> reading, KvTensor tensor, TFloat32 value, int priority) {
    MemorySegment memory() {
      return TensorViews.of(value).data();
    }
  }

  /// A request for one of the weights.
  @FunctionalInterface
  private interface Request {
    Handle<Void> of(Weight weight, int index) throws InterruptedException;
  }

  /// Registers the tensors and initializes them. Every worker must create the model.
  ///
  /// @param width examples of a step
  DenseModel(ServedTraining training, KvWorker store, Examples mine, int width)
      throws InterruptedException {
    TrainingSettings settings = training.settings();
    TableSettings with = TableSettings.of(settings);
    this.store = store;
    this.consistency = with.consistency();
    this.model = settings.model(mine);
    Ops tf = Ops.create(model.graph());
    this.factor =
        tf.withName("loss_factor").placeholder(TFloat32.class, Placeholder.shape(Shape.scalar()));
    Operand<TFloat32> loss = tf.math.mul(model.lossSum(), factor);
    Output<?>[] by = model.variables().stream().map(Operand::asOutput).toArray(Output<?>[]::new);
    this.gradients = List.of(model.graph().addGradients(loss.asOutput(), by));
    this.session =
        new Session(
            model.graph(), OpLibrary.load().sessionConfig(model.graph(), training.threads()));
    this.feed = new Feed(mine, width);
    session.initialize();
    register(with);
    await((weight, i) -> weight.tensor().init(weight.memory()));
    await((weight, i) -> weight.tensor().pull(weight.memory(), weight.priority()));
  }

  private void register(TableSettings with) throws InterruptedException {
    Session.Runner runner = session.runner();
    model.variables().forEach(runner::fetch);
    try (Result first = runner.run()) {
      for (int i = 0; i < first.size(); i++) {
        Variable<TFloat32> variable = model.variables().get(i);
        String name = variable.op().name();
        TensorView value = TensorViews.of(first.get(i));
        var reading = Objects.requireNonNull(model.graph().operation(name + "_read")).output(0);
        var spec =
            TableSpec.tensor(name, value.shape().elements())
                .withRule(with.rule())
                .with(with.consistency());
        weights.add(
            new Weight(
                reading,
                store.registerTensor(spec),
                TensorViews.copyOf(value, TFloat32.class),
                first.size() - i));
      }
    }
  }

  private void await(Request request) throws InterruptedException {
    List<Handle<Void>> open = new ArrayList<>(weights.size());
    for (Weight weight : weights) {
      open.add(request.of(weight, open.size()));
    }
    for (Handle<Void> each : open) {
      var unused = each.await();
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
      gradients.forEach(runner::fetch);
      try (Result result = runner.run()) {
        exchange(result);
        return ((TFloat32) result.get(0)).getFloat();
      }
    }
  }

  /// Pushes gradients and pulls weights. With a staleness bound, the clock advances between the
  /// push and the pull, because pulls wait for slow workers; otherwise one request does both.
  private void exchange(Result result) throws InterruptedException {
    if (consistency.staleness() > 0) {
      await((weight, i) -> weight.tensor().push(gradient(result, i), weight.priority()));
      store.clock();
      await((weight, i) -> weight.tensor().pull(weight.memory(), weight.priority()));
    } else {
      await(
          (weight, i) ->
              weight.tensor().pushPull(gradient(result, i), weight.memory(), weight.priority()));
      store.clock();
    }
  }

  private static MemorySegment gradient(Result result, int index) {
    return TensorViews.of(result.get(1 + index)).data();
  }

  private Session.Runner runner(Feed batch) {
    Session.Runner runner =
        session
            .runner()
            .feed(model.features(), batch.features())
            .feed(model.labels(), batch.labels());
    weights.forEach(it -> runner.feed(it.reading(), it.value()));
    return runner;
  }

  /// Does nothing, because a step completes with its pushes.
  @Override
  public void flush() {}

  @Override
  public TableCounts counts() {
    return store.counts();
  }

  @Override
  public void finish() throws InterruptedException {
    await((weight, i) -> weight.tensor().pull(weight.memory(), weight.priority()));
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
    weights.forEach(it -> named.put(it.tensor().spec().name(), TensorViews.of(it.value())));
    return WeightsDigest.of(named);
  }

  @Override
  public void close() {
    session.close();
    model.close();
    feed.close();
    weights.forEach(it -> it.value().close());
  }
}
