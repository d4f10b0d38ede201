// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.cluster.elastic.OnFailure;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.gradient.GradientReducer;
import io.weft.tensorflow.DistributedOptimizer;
import io.weft.tensorflow.DistributedOptimizer.Share;
import io.weft.tensorflow.DistributedOptimizer.Updates;
import io.weft.tensorflow.GradientOptions;
import io.weft.tensorflow.GradientOptions.Accumulation;
import io.weft.tensorflow.GradientOptions.Total;
import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.WeightsDigest;
import io.weft.workloads.batch.Feed;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Dropout;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.model.Model;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TFloat64;
import org.tensorflow.types.TInt32;

/// A model in a TensorFlow session. It takes training steps, counts correct predictions, and saves
/// and restores its state. Confined to one thread. Owns graph and session.
final class SessionModel implements AutoCloseable {

  private final Optional<Dropout.Draws> draws;
  private final Model model;
  private final Updating updating;
  private final Placeholder<TFloat32> factor;
  private final ModelState state;
  private final Session session;

  /// The way in which a step changes the variables.
  private sealed interface Updating {

    /// An update in the run that computes the gradients.
    record AtOnce(Op train) implements Updating {}

    /// An update in the run that computes the gradients. A data-parallel layer exchanges them.
    ///
    /// @param shares of this rank, if each rank updates its own shares
    /// @param job whose communicator the layer uses
    record Layered(Op train, DataParallel gradients, List<Share> shares, TrainingJob job)
        implements Updating {}

    /// An update in the run that computes the gradients, while an autotuner tunes the exchange.
    record Tuned(Op train, TunedGradients gradients) implements Updating {}

    /// An update in a separate run, after the runs that compute the gradients of the shards.
    record ByShards(ShardGradients gradients) implements Updating {}
  }

  private SessionModel(
      TrainingSettings settings,
      Model model,
      Updating updating,
      Placeholder<TFloat32> factor,
      ModelState state,
      Session session) {
    float dropout = settings.hidden().dropout();
    this.draws =
        dropout == 0 ? Optional.empty() : Optional.of(new Dropout.Draws(dropout, settings.seed()));
    this.model = model;
    this.updating = updating;
    this.factor = factor;
    this.state = state;
    this.session = session;
  }

  /// Builds the graph and initializes its variables, which depend only on the seed.
  ///
  /// @param data examples of the same shape as the training data
  static SessionModel start(TrainingSettings settings, Examples data, TrainingJob job) {
    Model model = settings.model(data);
    Optimizer optimizer = settings.optimizer().in(model.graph(), settings.rate());
    Ops tf = Ops.create(model.graph());
    Placeholder<TFloat32> factor =
        tf.withName("loss_factor").placeholder(TFloat32.class, Placeholder.shape(Shape.scalar()));
    Operand<TFloat32> loss = tf.math.mul(model.lossSum(), factor);
    Updating updating = updating(settings, job, model.graph(), optimizer, loss, factor);
    List<Share> shares = updating instanceof Updating.Layered by ? by.shares() : List.of();
    var state = new ModelState(model.graph(), shares, RankExchange.of(job));
    var session =
        new Session(model.graph(), OpLibrary.load().sessionConfig(model.graph(), job.threads()));
    session.initialize();
    return new SessionModel(settings, model, updating, factor, state, session);
  }

  private static Updating updating(
      TrainingSettings settings,
      TrainingJob job,
      Graph graph,
      Optimizer optimizer,
      Operand<TFloat32> loss,
      Operand<TFloat32> factor) {
    boolean averages = settings.sync() instanceof Sync.Gradients && job.size() > 1;
    return switch (settings.exchange()) {
      case GradientExchange.Averaged averaged -> {
        GradientOptions options =
            options(job)
                .with(averaged.compression())
                .with(new Accumulation(averaged.passes(), Total.SUM));
        if (averages) {
          yield layered(options, job, optimizer, by -> clipped(by, settings, job, loss, factor));
        }
        yield new Updating.AtOnce(
            averaged.equals(new GradientExchange.Averaged(averaged.compression()))
                ? optimizer.minimize(loss)
                : clipped(alone(options, job, optimizer), settings, job, loss, factor));
      }
      case GradientExchange.InShares _ ->
          averages
              ? layered(
                  GradientOptions.DEFAULT.with(Updates.IN_SHARES),
                  job,
                  optimizer,
                  by -> by.minimize(loss))
              : new Updating.AtOnce(optimizer.minimize(loss));
      case GradientExchange.Tuned how ->
          averages
              ? tuned(new TunedGradients(job, how, work(settings)), job, optimizer, loss)
              : new Updating.AtOnce(optimizer.minimize(loss));
      case GradientExchange.Shards _ ->
          new Updating.ByShards(new ShardGradients(graph, optimizer, loss, RankExchange.of(job)));
    };
  }

  /// Exchanges gradients through a data-parallel layer for the training.
  private static Updating layered(
      GradientOptions how,
      TrainingJob job,
      Optimizer optimizer,
      Function<DistributedOptimizer, Op> minimized) {
    DataParallelOptions options = DataParallelOptions.of(job.weft().config()).named("training");
    DataParallel layer = DataParallel.open(job.weft(), options, job.timeline());
    DistributedOptimizer averaging =
        new DistributedOptimizer(job.communicator(), layer, optimizer, how);
    return new Updating.Layered(minimized.apply(averaging), layer, averaging.shares(), job);
  }

  /// Returns an optimizer of one rank, which only accumulates.
  private static DistributedOptimizer alone(
      GradientOptions how, TrainingJob job, Optimizer optimizer) {
    return new DistributedOptimizer(job.communicator(), GradientReducer.ALLREDUCE, optimizer, how);
  }

  /// Returns the update by averaged gradients of at most the largest norm of the settings. The loss
  /// has the factor ranks / batch and that of the learning rate. Only the second multiplies the
  /// norm.
  private static Op clipped(
      DistributedOptimizer by,
      TrainingSettings settings,
      TrainingJob job,
      Operand<TFloat32> loss,
      Operand<TFloat32> factor) {
    if (settings.largestNorm() == Double.POSITIVE_INFINITY) {
      return by.minimize(loss);
    }
    Ops tf = by.getTF();
    double norm = settings.largestNorm() * settings.batch() / job.size();
    Operand<TFloat64> largest =
        tf.math.mul(tf.dtypes.cast(factor, TFloat64.class), tf.constant(norm));
    return by.applyGradients(by.clip(by.computeGradients(loss), largest), "clipped");
  }

  private static GradientOptions options(TrainingJob job) {
    return GradientOptions.DEFAULT.with(
        job.onFailure() == OnFailure.SHRINK ? Updates.ALL_OR_NONE : Updates.AS_THEY_COME);
  }

  private static Updating tuned(
      TunedGradients gradients, TrainingJob job, Optimizer optimizer, Operand<TFloat32> loss) {
    return new Updating.Tuned(
        new DistributedOptimizer(job.communicator(), gradients.reducers(), optimizer, options(job))
            .minimize(loss),
        gradients);
  }

  /// Returns the key of tuned values, which apply only to the same workload and batch.
  private static String work(TrainingSettings settings) {
    return settings.workload().title() + ", batch " + settings.batch();
  }

  /// Reports the duration of a step on this rank. Collective if an autotuner is in use.
  void stepEnded(long nanos, TrainingObserver observer) {
    if (updating instanceof Updating.Tuned tuned) {
      tuned.gradients().stepEnded(nanos, observer);
    }
  }

  /// Reports the end of the training.
  void trainingEnded(TrainingObserver observer) {
    if (updating instanceof Updating.Tuned tuned) {
      tuned.gradients().trainingEnded(observer);
    }
  }

  /// Returns the samples of an autotuner as lines of CSV; empty without an autotuner.
  List<String> tuningLog() {
    return updating instanceof Updating.Tuned tuned ? tuned.gradients().log() : List.of();
  }

  /// Returns the time of the last submission, if a layer exchanges the gradients.
  OptionalLong submittedNanos() {
    return updating instanceof Updating.Layered by
        ? by.gradients().reducer(by.job().communicator()).lastReductionNanos()
        : OptionalLong.empty();
  }

  ModelState state() {
    return state;
  }

  Session session() {
    return session;
  }

  /// Returns weights and biases, without the optimizer's state, in order of creation.
  List<ModelState.Slot> weights() {
    Set<String> names =
        model.variables().stream().map(v -> v.op().name()).collect(Collectors.toSet());
    return state.slots().stream().filter(slot -> names.contains(slot.name())).toList();
  }

  /// Takes one training step, of one or several passes, on the examples in `feed`. Returns the
  /// loss, summed over this rank's slice.
  ///
  /// @param lossFactor the factor by which the sum of the losses is multiplied
  /// @param number of the step since the first epoch
  double step(RankFeed feed, float lossFactor, long number) {
    try (TFloat32 scalar = TFloat32.scalarOf(lossFactor)) {
      return switch (updating) {
        case Updating.AtOnce whole -> atOnce(feed, scalar, whole.train(), number);
        case Updating.Layered by -> atOnce(feed, scalar, by.train(), number);
        case Updating.Tuned tuned -> atOnce(feed, scalar, tuned.train(), number);
        case Updating.ByShards parts -> byShards(feed, scalar, parts.gradients(), number);
      };
    }
  }

  private double atOnce(RankFeed feed, TFloat32 lossFactor, Op train, long number) {
    double sum = 0;
    for (int pass = 0; pass < feed.feeds().size(); pass++) {
      Session.Runner runner = runner(feed, pass, lossFactor, number).addTarget(train);
      try (Result result = runner.fetch(model.lossSum()).run()) {
        sum += ((TFloat32) result.get(0)).getFloat();
      }
    }
    return sum;
  }

  private double byShards(
      RankFeed feed, TFloat32 lossFactor, ShardGradients gradients, long number) {
    double[] losses = new double[feed.feeds().size()];
    for (int shard = 0; shard < losses.length; shard++) {
      Session.Runner runner = runner(feed, shard, lossFactor, number);
      gradients.fetch(runner);
      try (Result result = runner.fetch(model.lossSum()).run()) {
        gradients.add(result, shard);
        losses[shard] = ((TFloat32) result.get(gradients.count())).getFloat();
      }
    }
    gradients.apply(session, losses.length);
    return ShardTree.sum(losses);
  }

  private Session.Runner runner(RankFeed feeds, int shard, TFloat32 lossFactor, long number) {
    Feed feed = feeds.feeds().get(shard);
    Session.Runner runner =
        session
            .runner()
            .feed(factor, lossFactor)
            .feed(model.features(), feed.features())
            .feed(model.labels(), feed.labels());
    draws.ifPresent(each -> each.feed(runner, number, feeds.firstFeed() + shard));
    return runner;
  }

  /// Evaluates examples without training on them.
  Evaluation evaluate(Examples examples) throws InterruptedException {
    return Evaluation.of(
        examples,
        (first, size, scores) -> {
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
              if (model.score().isPresent()) {
                scores.accept((TFloat32) result.get(1));
              }
              return ((TInt32) result.get(0)).getInt();
            }
          }
        });
  }

  /// Returns the number of weights and biases.
  long parameters() {
    return model.parameters();
  }

  /// Returns a fingerprint of weights and biases.
  String digest() {
    return WeightsDigest.of(session, model.variables());
  }

  @Override
  public void close() {
    session.close();
    draws.ifPresent(Dropout.Draws::close);
    state.close();
    switch (updating) {
      case Updating.ByShards parts -> parts.gradients().close();
      case Updating.Layered by -> by.gradients().close();
      case Updating.Tuned tuned -> tuned.gradients().close();
      case Updating.AtOnce _ -> {}
    }
    model.close();
  }
}
