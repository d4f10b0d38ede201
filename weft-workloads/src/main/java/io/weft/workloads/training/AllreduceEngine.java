// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.agent.Ticker;
import io.weft.telemetry.metrics.TimeUse;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.telemetry.timeline.Timeline;
import io.weft.tensor.ReduceOp;
import io.weft.workloads.batch.RankShards;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.model.Ranking;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/// A model of which every rank has a copy. The ranks exchange gradients or weights. Confined to one
/// thread.
final class AllreduceEngine implements TrainingEngine, AutoCloseable {

  private final TrainingSettings settings;
  private final TrainingJob job;
  private final Recovery recovery;
  private final TrainingObserver observer;
  private final RankExchange exchange;
  private final RunMeter meter;
  private final SessionModel model;
  private final TrainingProgress progress;
  private DataShard shard;
  private RankShards shares;
  private RankFeed feed;
  private final Optional<Balance> balance;
  private int epoch;
  private @Nullable LocalTraining local;
  private @Nullable CheckedWeights checked;
  private long outerSteps;

  /// Builds the model. Borrows the job.
  ///
  /// @param recovery of the job
  AllreduceEngine(
      TrainingSettings settings,
      DataShard shard,
      TrainingJob job,
      Recovery recovery,
      TrainingObserver observer) {
    this.settings = settings;
    this.job = job;
    this.recovery = recovery;
    this.observer = observer;
    this.exchange = RankExchange.of(job);
    this.model = SessionModel.start(settings, shard.train(), job);
    this.progress = new TrainingProgress(shard.columns().steps());
    this.shard = shard;
    this.shares = equalShares();
    this.feed = new RankFeed(shard.train(), shares, settings.passes());
    this.balance =
        settings.shares() == Shares.BALANCED
            ? Optional.of(new Balance(Ticker.SYSTEM))
            : Optional.empty();
    this.meter = new RunMeter(job, exchange);
  }

  private RankShards equalShares() {
    return DataShard.shards(settings, shard.columns(), job.rank(), job.size());
  }

  /// Continues with other examples and equal shares, because the job has shrunk.
  void use(DataShard other) {
    shard = other;
    use(equalShares());
  }

  private void use(RankShards next) {
    feed.close();
    shares = next;
    feed = new RankFeed(shard.train(), shares, settings.passes());
  }

  /// Measures a step, and divides the batch again if that is due and shortens the next steps.
  /// Collective if it is due.
  private void balance(Balance measured, StepMeter.MeteredStep step) {
    if (!measured.add(step) || exchange.alone()) {
      return;
    }
    double[] nanos =
        exchange.gather("balance", measured.take()).stream().mapToDouble(all -> all[0]).toArray();
    Optional<List<Integer>> next = Balance.next(shares.widths(), nanos);
    if (next.isPresent()) {
      RankShards divided = RankShards.ofWidths(shard.columns(), next.get(), job.rank());
      shard = shard.moved(shares, divided, exchange);
      use(divided);
      feed.begin(epoch);
      observer.onBalance(progress.steps(), next.get());
    }
  }

  /// Ends the current epoch, because a rank was lost.
  void interrupt() {
    meter.interrupt();
    endLocal();
  }

  TrainingProgress progress() {
    return progress;
  }

  /// Returns the samples of an autotuner as lines of CSV; empty without an autotuner.
  List<String> tuningLog() {
    return model.tuningLog();
  }

  @Override
  public long parameters() {
    return model.parameters();
  }

  @Override
  public Position restore() {
    if (!recovery.isUnderWay()
        || !recovery.agree(progress, model.state(), model.session(), feed.width())) {
      progress.begin(resume().begin(model));
    } else if (progress.epochs() > 0 && progress.next() == 0) {
      save(); // the rank that saved before may be lost
    }
    return new Position(progress.epochs(), progress.next());
  }

  private Resume resume() {
    return new Resume(settings, shard.dataset(), shard.columns().steps(), job, exchange);
  }

  @Override
  public void begin() {
    recovery.done(progress, observer);
  }

  @Override
  public void save() {
    long begun = job.timeline().nanos();
    try (var _ = job.timeline().span(SpanCategory.CHECKPOINT, "checkpoint")) {
      resume().save(model, progress.history(), observer);
    }
    job.goodput().add(TimeUse.CHECKPOINT, job.timeline().nanos() - begun);
  }

  @Override
  public boolean beginEpoch(int epoch) {
    if (meter.isOver(settings.limit())) {
      return false;
    }
    this.epoch = epoch;
    meter.beginEpoch();
    feed.begin(epoch);
    balance.ifPresent(Balance::beginEpoch);
    averageWeights();
    // All ranks have equal weights now, from which local SGD on a communicator must start.
    if (local == null && settings.sync() instanceof Sync.Local how && !exchange.alone()) {
      local = new LocalTraining(how.options(), job.communicator(), model);
    }
    if (checked == null && settings.check().isPresent() && !exchange.alone()) {
      checked =
          new CheckedWeights(settings.check().get(), job.communicator(), model, progress.steps());
    }
    meter.beginSteps();
    return true;
  }

  @Override
  public Step step(int step, float rate) {
    int width = feed.width();
    Timeline timeline = job.timeline();
    double lossSum;
    StepMeter.MeteredStep measured;
    int perEpoch = shard.columns().steps();
    boolean last = step + 1 == perEpoch || progress.steps() + 1 == settings.steps(perEpoch);
    meter.beginInput();
    long input = timeline.nanos();
    try (var _ = timeline.step(progress.steps())) {
      meter.beginStep();
      try (var _ = timeline.span(SpanCategory.INPUT, "input")) {
        feed.fill(step);
      }
      input = timeline.nanos() - input;
      lossSum = model.step(feed, rate * weight(width), progress.steps());
      progress.step(lossSum, width, !averages(progress.steps() + 1, last));
      averageWeights();
      if (local != null) {
        local.step(last);
      }
      if (checked != null) {
        checked.step(observer);
      }
      measured = meter.endStep(model.submittedNanos());
    }
    meter.add(measured, input);
    model.stepEnded(measured.total(), observer);
    if (balance.isPresent() && !last) {
      balance(balance.get(), measured);
    }
    return new Step(lossSum / width, measured.total(), step + 1);
  }

  /// Returns the factor by which a sum of losses is multiplied. Gradients are averaged over the
  /// ranks; with slices of different size, the mean over the batch is the average of lossSum *
  /// ranks / batch. Gradients of shards are added.
  private float weight(int width) {
    if (settings.exchange() instanceof GradientExchange.Shards) {
      return 1f / settings.batch();
    }
    return settings.sync() instanceof Sync.Gradients && job.size() > 1
        ? (float) job.size() / settings.batch()
        : 1f / width;
  }

  /// Returns whether the ranks average their models after this number of steps.
  private boolean averages(long steps, boolean endOfEpoch) {
    return settings.sync() instanceof Sync.Weights every
        && (endOfEpoch || steps % every.steps() == 0);
  }

  private void averageWeights() {
    if (progress.isJoined()) {
      return;
    }
    if (!exchange.alone()) {
      model.state().fetch(model.session());
      exchange.average("weights", model.state().copies());
      model.state().assign(model.session());
    }
    progress.join();
  }

  @Override
  public Optional<TrainingObserver.TrainedEpoch> endEpoch() throws InterruptedException {
    meter.endSteps();
    double[] losses = losses();
    meter.endEpoch();
    progress.endEpoch(losses, accuracy());
    double mean = Arrays.stream(losses).average().orElseThrow();
    double accuracy = progress.history().accuracies().getLast();
    return Optional.of(new TrainingObserver.TrainedEpoch(progress.epochs(), mean, accuracy));
  }

  /// Returns the mean loss of each global batch of the epoch.
  private double[] losses() {
    double[] sums = Arrays.copyOf(progress.lossSums(), progress.next());
    double[] losses = exchange.combine("losses", ReduceOp.SUM, sums);
    double[] examples = new double[losses.length];
    Arrays.fill(examples, settings.batch());
    if (progress.isDisturbed()) {
      double[] own = Arrays.copyOf(progress.examples(), losses.length);
      examples = exchange.combine("examples", ReduceOp.SUM, own);
    }
    for (int s = 0; s < losses.length; s++) {
      losses[s] /= examples[s];
      String step = "step %d of epoch %d".formatted(s + 1, progress.epochs() + 1);
      TrainingLoop.requireFinite(losses[s], step, settings);
    }
    return losses;
  }

  private double accuracy() throws InterruptedException {
    double correct;
    long begun = job.timeline().nanos();
    try (var _ = job.timeline().span(SpanCategory.EVALUATION, "test")) {
      correct = evaluate(shard.test()).correct();
    }
    double all = exchange.combine("correct", ReduceOp.SUM, correct)[0];
    job.goodput().add(TimeUse.EVALUATION, job.timeline().nanos() - begun);
    return all / shard.testCount();
  }

  @Override
  public void finish() {
    model.trainingEnded(observer);
    if (exchange.alone() && settings.exchange() instanceof GradientExchange.Tuned) {
      observer.onTuned("autotune: a job of one rank has no exchange to tune");
    }
  }

  @Override
  public Evaluation evaluate(Examples examples) throws InterruptedException {
    return model.evaluate(examples);
  }

  @Override
  public String digest() {
    return model.digest();
  }

  /// Returns the outcome of the training, which has ended. Collective.
  TrainingOutcome outcome() throws InterruptedException {
    OptionalDouble auc = auc();
    endLocal();
    return new TrainingOutcome(
        shard.dataset(),
        progress.history().losses(),
        progress.history().accuracies(),
        auc,
        progress.history().finalLoss(),
        exchange.gather("digest", digest()),
        meter.timing(settings.batch()),
        meter.traffic(),
        recovery.shrinks(),
        settings.sync() instanceof Sync.Local ? OptionalLong.of(outerSteps) : OptionalLong.empty(),
        Optional.of(meter.goodput()),
        OptionalLong.of(model.state().optimizerBytes(model.weights())),
        Optional.of(meter.cost()),
        balance.isPresent() ? shares.widths() : List.of(),
        settings.warmup(shard.columns().steps()),
        Optional.empty());
  }

  private OptionalDouble auc() throws InterruptedException {
    if (!settings.workload().isRanked()) {
      return OptionalDouble.empty();
    }
    double[] counts = evaluate(shard.test()).ranking().counts();
    return new Ranking(exchange.combine("ranking", ReduceOp.SUM, counts)).auc();
  }

  /// Ends local SGD and the check of weights, because their communicator or the training has ended.
  private void endLocal() {
    checked = null;
    if (local != null) {
      outerSteps += local.outerSteps();
      local = null;
    }
  }

  @Override
  public void close() {
    meter.close();
    feed.close();
    model.close();
  }
}
