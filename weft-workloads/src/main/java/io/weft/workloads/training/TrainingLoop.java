// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.rate.LearningRateWarmup;
import io.weft.workloads.batch.Columns;
import java.util.Optional;

/// The loop of a training on one rank: epochs and steps in order, the rate of each step, and the
/// reports of progress. Confined to one thread.
public final class TrainingLoop {

  private static final double NANOS = 1e9;

  private final TrainingSettings settings;
  private final String dataset;
  private final Columns columns;
  private final TrainingObserver observer;
  private final Optional<LearningRateWarmup> warmup;
  private boolean announced;
  private double seconds;

  /// Creates the loop of a training on this data. Throws `TrainingException.Unfit` if the warm-up
  /// of the learning rate is longer than the training.
  ///
  /// @param dataset as the report names it
  /// @param columns of the whole training set
  public TrainingLoop(
      TrainingSettings settings, String dataset, Columns columns, TrainingObserver observer) {
    this.settings = settings;
    this.dataset = dataset;
    this.columns = columns;
    this.observer = observer;
    this.warmup = settings.warmup(columns.steps());
  }

  /// Restores the engine's state and takes the remaining steps. A second call continues from the
  /// state that the engine restores then, and does not report the start again.
  public void run(TrainingEngine engine) throws InterruptedException {
    TrainingEngine.Position from = engine.restore();
    if (!announced) {
      announced = true;
      observer.onStart(
          new TrainingObserver.Start(
              dataset, engine.parameters(), columns.examples(), columns.steps(), from.epoch()));
    }
    engine.begin();
    int step = from.step();
    long all = settings.steps(columns.steps());
    for (int epoch = from.epoch(); taken(epoch, step) < all; epoch++) {
      if (!engine.beginEpoch(epoch)) {
        break;
      }
      while (step < columns.steps() && taken(epoch, step) < all) {
        step = step(engine, epoch, step);
      }
      boolean whole = step >= columns.steps();
      step -= columns.steps();
      var trained = engine.endEpoch();
      if (whole) {
        engine.save();
      }
      trained.ifPresent(observer::onEpoch);
    }
    engine.finish();
  }

  /// Returns the number of steps before this step of an epoch.
  private long taken(int epoch, int step) {
    return (long) epoch * columns.steps() + step;
  }

  private int step(TrainingEngine engine, int epoch, int step) throws InterruptedException {
    TrainingEngine.Step taken = engine.step(step, rate(taken(epoch, step)));
    seconds += taken.nanos() / NANOS;
    observer.onStep(new TrainingObserver.TrainedStep(epoch + 1, step + 1, taken.loss(), seconds));
    return taken.next();
  }

  /// Returns a factor that falls linearly over the run if updates scale with the gradients, else 1.
  /// A rate that scales with the ranks multiplies it.
  private float rate(long stepsDone) {
    if (!settings.optimizer().followsGradientScale()) {
      return 1;
    }
    double falling = 1 - stepsDone / (double) settings.steps(columns.steps());
    double scaled = warmup.map(rates -> rates.at(stepsDone) / rates.rate()).orElse(1.0);
    return (float) (falling * scaled);
  }

  /// Throws `TrainingException.Diverged` unless a loss is finite.
  ///
  /// @param step in words
  public static void requireFinite(double loss, String step, TrainingSettings settings) {
    if (!Double.isFinite(loss)) {
      throw new TrainingException.Diverged(
          "the loss became %s in %s; give a smaller --lr than %s"
              .formatted(loss, step, settings.rate()));
    }
  }
}
