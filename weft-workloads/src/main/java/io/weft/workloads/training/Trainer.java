// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.CommException;
import io.weft.agent.Ticker;
import io.weft.tensor.ReduceOp;
import io.weft.workloads.data.Source;
import java.util.Arrays;
import org.tensorflow.exceptions.TensorFlowException;

/// Trains a workload on the ranks of a job. All ranks call `run` with the same settings. One
/// thread.
public final class Trainer {

  private final Settings settings;
  private final Source source;
  private final Job job;
  private final Observer observer;
  private final StepMeter meter;
  private final Exchange exchange;
  private final TimingRecorder recorder;
  private double trainedSeconds;

  /// A run that begins with `run`. Borrows the job.
  public Trainer(Settings settings, Source source, Job job, Observer observer) {
    this.settings = settings;
    this.source = source;
    this.observer = observer;
    this.meter = new StepMeter(Ticker.SYSTEM);
    this.job = job.size() == 1 ? job : new MeasuredJob(job, meter);
    this.exchange = new Exchange(this.job);
    this.recorder = new TimingRecorder(exchange);
  }

  /// Reads, trains, tests. Collective. Throws `DataException` and `TrainingException`.
  public Outcome run() {
    try {
      return train(Shard.read(settings, source, job, exchange));
    } catch (CommException | TensorFlowException e) {
      // TensorFlow passes on a collective's failure as text; the meter has seen the original.
      throw new TrainingException.Lost(meter.failure().orElseThrow(() -> e));
    }
  }

  private Outcome train(Shard shard) {
    int slice = shard.columns().width(job.rank(), job.size());
    try (Engine engine = Engine.start(settings, shard.train().scale(), slice, job);
        var feed = new Feed(shard.train(), slice)) {
      var resume = new Resume(settings, source.name(), job, exchange);
      History history = resume.begin(engine);
      int done = history.accuracies().size();
      observer.onStart(
          new Observer.Start(
              source.name(),
              engine.parameters(),
              shard.columns().examples(),
              shard.columns().steps(),
              done));
      for (int epoch = done; epoch < settings.epochs(); epoch++) {
        double[] losses = epoch(epoch, shard.columns(), engine, feed);
        recorder.endEpoch();
        double accuracy = accuracy(engine, shard);
        history = history.plus(losses, accuracy);
        resume.save(engine, history);
        double mean = Arrays.stream(losses).average().orElseThrow();
        observer.onEpoch(new Observer.Epoch(epoch + 1, mean, accuracy));
      }
      return outcome(engine, history);
    }
  }

  /// One pass over the data; returns the mean loss of each global batch.
  private double[] epoch(int epoch, Columns columns, Engine engine, Feed feed) {
    int width = columns.width(job.rank(), job.size());
    int[] order = columns.order(epoch, job.rank(), job.size());
    double[] losses = new double[columns.steps()];
    for (int s = 0; s < losses.length; s++) {
      meter.begin();
      feed.fill(order, s * width);
      Engine.Step step = engine.step(feed, rateFactor(epoch * losses.length + s, losses.length));
      losses[s] = step.lossSum();
      averageWeights(engine, epoch * losses.length + s + 1, s + 1 == losses.length);
      StepMeter.Step measured = meter.end();
      recorder.add(measured);
      trainedSeconds += measured.total() / 1e9;
      observer.onStep(new Observer.Step(epoch + 1, s + 1, step.lossSum() / width, trainedSeconds));
    }
    return global(losses, epoch);
  }

  /// Falls in a straight line over the whole run, where the optimizer follows.
  private float rateFactor(int stepsDone, int stepsPerEpoch) {
    return settings.optimizer().followsGradientScale()
        ? (float) (1 - stepsDone / ((double) stepsPerEpoch * settings.epochs()))
        : 1;
  }

  private double[] global(double[] lossSums, int epoch) {
    double[] losses = exchange.combine("losses", ReduceOp.SUM, lossSums);
    for (int s = 0; s < losses.length; s++) {
      losses[s] /= settings.batch();
      if (!Double.isFinite(losses[s])) {
        throw new TrainingException.Diverged(
            "the loss became %s in step %d of epoch %d; give a smaller --lr than %s"
                .formatted(losses[s], s + 1, epoch + 1, settings.rate()));
      }
    }
    return losses;
  }

  private void averageWeights(Engine engine, int steps, boolean endOfEpoch) {
    if (settings.sync() instanceof Sync.Weights every
        && !exchange.alone()
        && (endOfEpoch || steps % every.steps() == 0)) {
      engine.state().fetch(engine.session());
      exchange.average("weights", engine.state().copies());
      engine.state().assign(engine.session());
    }
  }

  private double accuracy(Engine engine, Shard shard) {
    double correct = engine.correct(shard.test());
    return exchange.combine("correct", ReduceOp.SUM, correct)[0] / shard.testCount();
  }

  private Outcome outcome(Engine engine, History history) {
    double[] sent = exchange.combine("bytes", ReduceOp.SUM, (double) job.bytesSent());
    return new Outcome(
        source.name(),
        history.losses(),
        history.accuracies(),
        history.finalLoss(),
        exchange.gather("digest", engine.digest()),
        recorder.result(settings.batch()),
        (long) sent[0]);
  }
}
