// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.cluster.elastic.OnFailure;
import io.weft.gradient.GradientReducer;
import io.weft.tensorflow.DistributedOptimizer;
import io.weft.tensorflow.DistributedOptimizer.Updates;
import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.WeightsDigest;
import io.weft.workloads.batch.Feed;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Model;
import io.weft.workloads.model.Ranking;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

/// A model in a TensorFlow session: takes steps, counts right answers, gives and takes its state.
/// One thread. Owns graph and session.
final class Engine implements AutoCloseable {

  private static final int TEST_BATCH = 500;

  private final Model model;
  private final Op train;
  private final Placeholder<TFloat32> factor;
  private final ModelState state;
  private final Session session;

  private Engine(
      Model model, Op train, Placeholder<TFloat32> factor, ModelState state, Session session) {
    this.model = model;
    this.train = train;
    this.factor = factor;
    this.state = state;
    this.session = session;
  }

  /// What a step brought: loss summed over this rank's slice, and right answers in it.
  record StepLoss(float lossSum, int correct) {}

  /// Builds the graph and initializes its variables, from the seed alone.
  ///
  /// @param data like what it will see
  static Engine start(TrainingSettings settings, Examples data, TrainingJob job) {
    Model model = Model.of(settings.workload(), data.features(), settings.seed(), data.scale());
    Optimizer optimizer = settings.optimizer().in(model.graph(), settings.rate());
    if (settings.sync() instanceof Sync.Gradients && job.size() > 1) {
      Updates updates =
          job.onFailure() == OnFailure.SHRINK ? Updates.ALL_OR_NONE : Updates.AS_THEY_COME;
      optimizer =
          new DistributedOptimizer(
              job.communicator(), reducers(settings.exchange()), optimizer, updates);
    }
    Ops tf = Ops.create(model.graph());
    Placeholder<TFloat32> factor =
        tf.withName("loss_factor").placeholder(TFloat32.class, Placeholder.shape(Shape.scalar()));
    Operand<TFloat32> loss = tf.math.mul(model.lossSum(), factor);
    Op train = optimizer.minimize(loss);
    var state = new ModelState(model.graph());
    var session =
        new Session(model.graph(), OpLibrary.load().sessionConfig(model.graph(), job.threads()));
    session.initialize();
    return new Engine(model, train, factor, state, session);
  }

  private static GradientReducer.Factory reducers(GradientExchange exchange) {
    return switch (exchange) {
      case GradientExchange.Averaged averaged -> averaged.compression().reducers();
    };
  }

  ModelState state() {
    return state;
  }

  Session session() {
    return session;
  }

  /// Weights and biases, without the optimizer's state, in order of creation.
  List<ModelState.Slot> weights() {
    Set<String> names =
        model.variables().stream().map(v -> v.op().name()).collect(Collectors.toSet());
    return state.slots().stream().filter(slot -> names.contains(slot.name())).toList();
  }

  /// One step of training on what is in `feed`.
  ///
  /// @param lossFactor what the sum of the losses is multiplied by
  StepLoss step(Feed feed, float lossFactor) {
    try (TFloat32 scalar = TFloat32.scalarOf(lossFactor);
        Result result =
            session
                .runner()
                .feed(factor, scalar)
                .feed(model.features(), feed.features())
                .feed(model.labels(), feed.labels())
                .addTarget(train)
                .fetch(model.lossSum())
                .fetch(model.correct())
                .run()) {
      return new StepLoss(((TFloat32) result.get(0)).getFloat(), ((TInt32) result.get(1)).getInt());
    }
  }

  /// What the model says of examples.
  ///
  /// @param correct how many it names right
  /// @param ranking of its scores; empty where the workload is not ranked
  record Evaluation(long correct, Ranking ranking) {}

  /// Looks at examples without learning.
  Evaluation judge(Examples examples) {
    long correct = 0;
    var ranking = new Ranking();
    for (int first = 0; first < examples.count(); first += TEST_BATCH) {
      int size = Math.min(TEST_BATCH, examples.count() - first);
      try (var feed = new Feed(examples, size)) {
        feed.fill(first);
        Session.Runner runner =
            session
                .runner()
                .feed(model.features(), feed.features())
                .feed(model.labels(), feed.labels())
                .fetch(model.correct());
        model.score().ifPresent(runner::fetch);
        try (Result result = runner.run()) {
          correct += ((TInt32) result.get(0)).getInt();
          if (model.score().isPresent()) {
            TFloat32 scores = (TFloat32) result.get(1);
            for (int i = 0; i < size; i++) {
              ranking.add(scores.getFloat(i), examples.labels()[first + i]);
            }
          }
        }
      }
    }
    return new Evaluation(correct, ranking);
  }

  /// Number of weights and biases.
  long parameters() {
    return model.parameters();
  }

  /// Fingerprint of weights and biases.
  String digest() {
    return WeightsDigest.of(session, model.variables());
  }

  @Override
  public void close() {
    session.close();
    state.close();
    model.close();
  }
}
