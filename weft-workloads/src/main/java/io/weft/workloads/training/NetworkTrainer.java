// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.cluster.elastic.OnFailure;
import io.weft.telemetry.metrics.TimeUse;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.telemetry.timeline.Timeline;
import io.weft.tensor.ReduceOp;
import io.weft.workloads.batch.RankShards;
import io.weft.workloads.checkpoint.History;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Consumer;

/// The training of a `RankNetwork` on the ranks of a job, which average gradients in each step, or
/// weights with local SGD. All ranks call `run` with equal settings. Keeps no checkpoints, and ends
/// if a rank is lost. Confined to one thread.
///
/// @param networks makes the network of a rank
public record NetworkTrainer(
    TrainingSettings settings,
    DataSource source,
    TrainingJob job,
    TrainingObserver observer,
    RankNetwork.Factory networks) {

  /// Throws `NullPointerException` if a component is null.
  public NetworkTrainer {
    Objects.requireNonNull(settings, "settings");
    Objects.requireNonNull(source, "source");
    Objects.requireNonNull(job, "job");
    Objects.requireNonNull(observer, "observer");
    Objects.requireNonNull(networks, "networks");
  }

  /// Reads the data, trains and tests. Collective. Throws `CommException`, `DataException` and
  /// `TrainingException`.
  ///
  /// @param report called with the outcome on rank 0
  public TrainingOutcome run(Consumer<TrainingOutcome> report) {
    Objects.requireNonNull(report, "report");
    if (job.onFailure() == OnFailure.SHRINK) {
      throw new TrainingException.Unfit(
          "--engine " + settings.engine() + " does not go with --on-failure shrink");
    }
    RankExchange exchange = RankExchange.of(job);
    DataShard shard = DataShard.read(settings, source, job, exchange);
    exchange.requireSame("data", "rank", shard.extent());
    RankShards shares = DataShard.shards(settings, shard.columns(), job.rank(), job.size());
    try (var network = networks.network(settings, shard.train(), shares.width(), job);
        var meter = new RunMeter(job, exchange)) {
      var engine = new Engine(this, exchange, shard, shares, network, meter);
      new TrainingLoop(settings, shard.dataset(), shard.columns(), observer).run(engine);
      TrainingOutcome outcome = engine.outcome();
      if (job.rank() == 0) {
        report.accept(outcome);
      }
      return outcome;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while training", e);
    }
  }

  /// The state of a run.
  private static final class Engine implements TrainingEngine {

    private final NetworkTrainer of;
    private final RankExchange exchange;
    private final DataShard shard;
    private final RankShards shares;
    private final RankNetwork network;
    private final RunMeter meter;
    private final double[] lossSums;
    private History history = History.NONE;
    private int[] order = {};
    private int epoch;
    private int taken;

    private Engine(
        NetworkTrainer of,
        RankExchange exchange,
        DataShard shard,
        RankShards shares,
        RankNetwork network,
        RunMeter meter) {
      this.of = of;
      this.exchange = exchange;
      this.shard = shard;
      this.shares = shares;
      this.network = network;
      this.meter = meter;
      this.lossSums = new double[shard.columns().steps()];
    }

    @Override
    public long parameters() {
      return network.parameters();
    }

    @Override
    public Position restore() {
      return Position.FIRST;
    }

    @Override
    public void begin() {}

    @Override
    public boolean beginEpoch(int number) {
      if (meter.isOver(of.settings.limit())) {
        return false;
      }
      epoch = number;
      taken = 0;
      meter.beginEpoch();
      order = shares.orders(number)[0];
      meter.beginSteps();
      return true;
    }

    /// Takes a step. Gradients of the sums of losses are averaged over the ranks, so the mean over
    /// the batch is their average times ranks / batch. With local SGD it is the rank's own mean.
    @Override
    public Step step(int step, float rate) throws InterruptedException {
      Timeline timeline = of.job.timeline();
      meter.beginInput();
      StepMeter.MeteredStep measured;
      try (var _ = timeline.step((long) epoch * lossSums.length + step)) {
        meter.beginStep();
        float scale =
            of.settings.sync() instanceof Sync.Local
                ? rate / shares.width()
                : rate * of.job.size() / of.settings.batch();
        lossSums[step] = network.step(order, step * shares.width(), scale);
        long taken = (long) epoch * lossSums.length + step + 1;
        if (step + 1 == lossSums.length || taken == of.settings.steps(lossSums.length)) {
          network.synchronize();
        }
        measured = meter.endStep(network.submittedNanos());
      }
      meter.add(measured, 0);
      taken = step + 1;
      return new Step(lossSums[step] / shares.width(), measured.total(), step + 1);
    }

    @Override
    public Optional<TrainingObserver.TrainedEpoch> endEpoch() throws InterruptedException {
      meter.endSteps();
      double[] losses = exchange.combine("losses", ReduceOp.SUM, Arrays.copyOf(lossSums, taken));
      for (int s = 0; s < losses.length; s++) {
        losses[s] /= of.settings.batch();
        String step = "step %d of epoch %d".formatted(s + 1, epoch + 1);
        TrainingLoop.requireFinite(losses[s], step, of.settings);
      }
      meter.endEpoch();
      double accuracy = accuracy();
      history = history.plus(losses, accuracy);
      double mean = Arrays.stream(losses).average().orElseThrow();
      return Optional.of(new TrainingObserver.TrainedEpoch(epoch + 1, mean, accuracy));
    }

    private double accuracy() throws InterruptedException {
      double correct;
      long begun = of.job.timeline().nanos();
      try (var _ = of.job.timeline().span(SpanCategory.EVALUATION, "test")) {
        correct = evaluate(shard.test()).correct();
      }
      double all = exchange.combine("correct", ReduceOp.SUM, correct)[0];
      of.job.goodput().add(TimeUse.EVALUATION, of.job.timeline().nanos() - begun);
      return all / shard.testCount();
    }

    @Override
    public void save() {}

    @Override
    public void finish() {}

    @Override
    public Evaluation evaluate(Examples examples) throws InterruptedException {
      return network.evaluate(examples);
    }

    @Override
    public String digest() {
      return network.digest();
    }

    @Override
    public Optional<String> sample() {
      return of.job.rank() == 0 ? network.sample() : Optional.empty();
    }

    private TrainingOutcome outcome() {
      return new TrainingOutcome(
          shard.dataset(),
          history.losses(),
          history.accuracies(),
          OptionalDouble.empty(),
          history.finalLoss(),
          exchange.gather("digest", digest()),
          meter.timing(of.settings.batch()),
          meter.traffic(),
          List.of(),
          network.outerSteps(),
          Optional.of(meter.goodput()),
          OptionalLong.empty(),
          Optional.of(meter.cost()),
          List.of(),
          of.settings.warmup(shard.columns().steps()),
          sample());
    }
  }
}
