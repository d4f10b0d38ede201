// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.agent.Ticker;
import io.weft.cluster.elastic.OnFailure;
import io.weft.comm.CommException;
import io.weft.telemetry.metrics.Goodput;
import io.weft.telemetry.metrics.TimeUse;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.telemetry.timeline.Timeline;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.OpLibrary;
import io.weft.transport.limit.ClampedDuration;
import io.weft.workloads.batch.Columns;
import io.weft.workloads.checkpoint.History;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.model.Ranking;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tensorflow.exceptions.TensorFlowException;

/// The training of a workload on the ranks of a job. All ranks call `run` with equal settings.
/// Confined to one thread.
///
/// If the job shrinks on failure, a run continues with the remaining ranks from the last step that
/// any of them has completed. Its global batch keeps its size and is divided again.
public final class Trainer {

  private final TrainingSettings settings;
  private final DataSource source;
  private final TrainingJob job;
  private final TrainingObserver observer;
  private final StepMeter meter;
  private final RankExchange exchange;
  private final TimingRecorder recorder;
  private final Recovery recovery;
  private @Nullable TrainingProgress progress;
  private @Nullable Engine engine;
  private @Nullable LocalTraining local;
  private @Nullable CheckedWeights checked;
  private long outerSteps;
  private double trainedSeconds;
  private double stepBytes;
  private long stepsTaken;
  private boolean announced;
  private boolean hasBegun;
  private long begunNanos;
  private List<String> tuningLog = List.of();

  /// Creates a run that begins with `run`. Borrows the job.
  public Trainer(
      TrainingSettings settings, DataSource source, TrainingJob job, TrainingObserver observer) {
    this.settings = settings;
    this.source = source;
    this.observer = observer;
    this.meter = new StepMeter(Ticker.SYSTEM);
    this.job = job;
    this.exchange = new RankExchange(job);
    this.recorder = new TimingRecorder(exchange, job);
    this.recovery = new Recovery(job, exchange, Ticker.SYSTEM);
  }

  /// Reads the data, trains and tests. Collective. Throws `DataException` and `TrainingException`.
  public TrainingOutcome run() {
    return run(outcome -> {});
  }

  /// Runs, and passes the outcome to `report` on rank 0. If the job shrinks on failure, all ranks
  /// wait for `report`, so that another rank can report if rank 0 is lost.
  public TrainingOutcome run(Consumer<TrainingOutcome> report) {
    job.observe(meter);
    try {
      while (true) {
        try {
          TrainingOutcome outcome = train(DataShard.read(settings, source, job, exchange));
          if (job.rank() == 0) {
            report.accept(outcome);
          }
          if (job.onFailure() == OnFailure.SHRINK) {
            exchange.barrier("end");
          }
          return outcome;
        } catch (CommException | TensorFlowException e) {
          recovery.shrink(
              e instanceof CommException direct
                  ? direct
                  : OpLibrary.load().failure(job.communicator()).orElseThrow(() -> e),
              progress == null ? -1 : progress.progress());
          meter.forget();
          recorder.cut();
          endLocal();
        }
      }
    } finally {
      job.unobserve(meter);
      if (engine != null) {
        tuningLog = engine.tuningLog();
        engine.close();
      }
    }
  }

  /// Returns, after `run`, the samples of an autotuner as lines of CSV; empty without an autotuner.
  public List<String> tuningLog() {
    return tuningLog;
  }

  /// Checks that all ranks have read equal data. A rank with fewer examples would take fewer steps.
  private void requireSameData(DataShard shard) {
    List<String> all = exchange.gather("data", shard.extent());
    for (int rank = 1; rank < all.size(); rank++) {
      if (!all.get(rank).equals(all.getFirst())) {
        throw new TrainingException.Unfit(
            "rank 0 has read %s, rank %d %s; give --data with the same files on all hosts"
                .formatted(all.getFirst(), rank, all.get(rank)));
      }
    }
  }

  private TrainingOutcome train(DataShard shard) {
    requireSameData(shard);
    if (settings.exchange() instanceof GradientExchange.Tuned
        && job.onFailure() == OnFailure.SHRINK) {
      throw new TrainingException.Unfit(
          "--autotune does not go with --on-failure shrink; tune a run without it");
    }
    if (settings.exchange() instanceof GradientExchange.InShares
        && job.onFailure() == OnFailure.SHRINK) {
      throw new TrainingException.Unfit(
          "--optimizer-shares does not go with --on-failure shrink: the optimizer's state of a"
              + " lost rank is lost; give --checkpoint DIR and start again after a failure");
    }
    if (engine == null) {
      engine = Engine.start(settings, shard.train(), job);
      progress = new TrainingProgress(shard.columns().steps());
    }
    var shards = DataShard.shards(settings, shard.columns(), job.rank(), job.size());
    try (var feed = new RankFeed(shard.train(), shards)) {
      return train(shard, feed, engine, Objects.requireNonNull(progress));
    }
  }

  private TrainingOutcome train(
      DataShard shard, RankFeed feed, Engine model, TrainingProgress run) {
    var resume = new Resume(settings, source.name(), shard.columns().steps(), job, exchange);
    boolean goesOn =
        recovery.isUnderWay() && recovery.agree(run, model.state(), model.session(), feed.width());
    if (!goesOn) {
      run.begin(resume.begin(model));
    } else if (run.epochs() > 0 && run.next() == 0) {
      save(resume, model, run); // the rank that saved before may be lost
    }
    if (!announced) {
      announced = true;
      Columns columns = shard.columns();
      observer.onStart(
          new TrainingObserver.Start(
              source.name(),
              model.parameters(),
              columns.examples(),
              columns.steps(),
              run.epochs()));
    }
    recovery.done(run, observer);
    while (run.epochs() < settings.epochs() && !isOver()) {
      recorder.beginEpoch();
      double[] losses = epoch(run, shard.columns().steps(), model, feed);
      recorder.endEpoch();
      run.endEpoch(losses, accuracy(model, shard));
      save(resume, model, run);
      double mean = Arrays.stream(losses).average().orElseThrow();
      double accuracy = run.history().accuracies().getLast();
      observer.onEpoch(new TrainingObserver.TrainedEpoch(run.epochs(), mean, accuracy));
    }
    model.trainingEnded(observer);
    if (exchange.alone() && settings.exchange() instanceof GradientExchange.Tuned) {
      observer.onTuned("autotune: a job of one rank has no exchange to tune");
    }
    return outcome(model, run.history(), auc(model, shard));
  }

  /// Returns whether the time limit has passed on any rank. Collective if there is a limit.
  private boolean isOver() {
    if (settings.limit().isEmpty() || !hasBegun) {
      return false;
    }
    long limit = ClampedDuration.nanos(settings.limit().get());
    double over = Ticker.SYSTEM.nanos() - begunNanos >= limit ? 1 : 0;
    return exchange.combine("over", ReduceOp.MAX, over)[0] > 0;
  }

  private void save(Resume resume, Engine model, TrainingProgress run) {
    long begun = job.timeline().nanos();
    try (var _ = job.timeline().span(SpanCategory.CHECKPOINT, "checkpoint")) {
      resume.save(model, run.history(), observer);
    }
    job.goodput().add(TimeUse.CHECKPOINT, job.timeline().nanos() - begun);
  }

  /// Trains on the rest of one pass over the data. Returns the mean loss of each global batch.
  private double[] epoch(TrainingProgress run, int steps, Engine model, RankFeed feed) {
    int epoch = run.epochs();
    int width = feed.width();
    feed.begin(epoch);
    Timeline timeline = job.timeline();
    averageWeights(model, run);
    beginLocal(model);
    if (checked == null && settings.check().isPresent() && !exchange.alone()) {
      checked = new CheckedWeights(settings.check().get(), job.communicator(), model, run.steps());
    }
    long sentBefore = job.bytesSent();
    while (run.next() < steps) {
      int s = run.next();
      Engine.StepLoss step;
      StepMeter.MeteredStep measured;
      long input = timeline.nanos();
      job.goodput().start(input - job.begunNanos());
      if (!hasBegun) {
        hasBegun = true;
        begunNanos = Ticker.SYSTEM.nanos();
      }
      try (var _ = timeline.step(run.steps())) {
        meter.begin();
        try (var _ = timeline.span(SpanCategory.INPUT, "input")) {
          feed.fill(s);
        }
        input = timeline.nanos() - input;
        step = model.step(feed, rateFactor(run.steps(), steps) * weight(width));
        run.step(step.lossSum(), width, !averages(run.steps() + 1, s + 1 == steps));
        averageWeights(model, run);
        if (local != null) {
          local.step(s + 1 == steps);
        }
        if (checked != null) {
          checked.step(observer);
        }
        measured = meter.end(model.submittedNanos());
      }
      job.goodput().step(measured.total(), measured.exposed(), input);
      recorder.add(measured);
      trainedSeconds += measured.total() / 1e9;
      stepsTaken++;
      model.stepEnded(measured.total(), observer);
      observer.onStep(
          new TrainingObserver.TrainedStep(
              epoch + 1, s + 1, step.lossSum() / width, trainedSeconds));
    }
    stepBytes += job.bytesSent() - sentBefore;
    return global(run, epoch);
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

  /// Returns a factor that falls linearly over the run if updates scale with the gradients, else 1.
  private float rateFactor(long stepsDone, int stepsPerEpoch) {
    return settings.optimizer().followsGradientScale()
        ? (float) (1 - stepsDone / ((double) stepsPerEpoch * settings.epochs()))
        : 1;
  }

  private double[] global(TrainingProgress run, int epoch) {
    double[] losses = exchange.combine("losses", ReduceOp.SUM, run.lossSums());
    double[] examples = new double[losses.length];
    Arrays.fill(examples, settings.batch());
    if (run.isDisturbed()) {
      examples = exchange.combine("examples", ReduceOp.SUM, run.examples());
    }
    for (int s = 0; s < losses.length; s++) {
      losses[s] /= examples[s];
      if (!Double.isFinite(losses[s])) {
        throw new TrainingException.Diverged(
            "the loss became %s in step %d of epoch %d; give a smaller --lr than %s"
                .formatted(losses[s], s + 1, epoch + 1, settings.rate()));
      }
    }
    return losses;
  }

  /// Returns whether the ranks average their models after this number of steps.
  private boolean averages(long steps, boolean endOfEpoch) {
    return settings.sync() instanceof Sync.Weights every
        && (endOfEpoch || steps % every.steps() == 0);
  }

  private void averageWeights(Engine model, TrainingProgress run) {
    if (run.isJoined()) {
      return;
    }
    if (!exchange.alone()) {
      model.state().fetch(model.session());
      exchange.average("weights", model.state().copies());
      model.state().assign(model.session());
    }
    run.join();
  }

  /// Starts local SGD once on each communicator. All ranks must have equal weights.
  private void beginLocal(Engine model) {
    if (local == null && settings.sync() instanceof Sync.Local how && !exchange.alone()) {
      local = new LocalTraining(how.options(), job.communicator(), model);
    }
  }

  /// Ends local SGD and the check of weights, because their communicator or the training has ended.
  private void endLocal() {
    checked = null;
    if (local != null) {
      outerSteps += local.outerSteps();
      local = null;
    }
  }

  private double accuracy(Engine model, DataShard shard) {
    double correct;
    long begun = job.timeline().nanos();
    try (var _ = job.timeline().span(SpanCategory.EVALUATION, "test")) {
      correct = model.judge(shard.test()).correct();
    }
    double all = exchange.combine("correct", ReduceOp.SUM, correct)[0];
    job.goodput().add(TimeUse.EVALUATION, job.timeline().nanos() - begun);
    return all / shard.testCount();
  }

  private OptionalDouble auc(Engine model, DataShard shard) {
    if (!settings.workload().isRanked()) {
      return OptionalDouble.empty();
    }
    double[] counts = model.judge(shard.test()).ranking().counts();
    return new Ranking(exchange.combine("ranking", ReduceOp.SUM, counts)).auc();
  }

  private TrainingOutcome outcome(Engine model, History history, OptionalDouble auc) {
    endLocal();
    double[] sent = exchange.combine("bytes", ReduceOp.SUM, (double) job.bytesSent(), stepBytes);
    return new TrainingOutcome(
        source.name(),
        history.losses(),
        history.accuracies(),
        auc,
        history.finalLoss(),
        exchange.gather("digest", model.digest()),
        recorder.result(settings.batch()),
        (long) sent[0],
        exchange.alone() || stepsTaken == 0
            ? OptionalDouble.empty()
            : OptionalDouble.of(sent[1] / stepsTaken),
        recovery.shrinks(),
        settings.sync() instanceof Sync.Local ? OptionalLong.of(outerSteps) : OptionalLong.empty(),
        Optional.of(goodput()),
        OptionalLong.of(model.state().optimizerBytes(model.weights())));
  }

  private Goodput goodput() {
    double[] mine = job.goodput().nanos();
    double[] sums = exchange.combine("goodput", ReduceOp.SUM, mine);
    double wall = (double) (job.timeline().nanos() - job.begunNanos());
    return Goodput.ofSums(sums, exchange.combine("wall", ReduceOp.SUM, wall)[0], job.size());
  }
}
