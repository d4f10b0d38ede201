// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensorflow.session.Fetched;
import io.weft.workloads.batch.Columns;
import io.weft.workloads.batch.Feed;
import io.weft.workloads.data.Examples;
import io.weft.workloads.training.TrainingException;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.tensorflow.Tensor;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;

/// The steps of one worker, and their times and losses. Confined to one thread.
final class WorkerLoop {

  private final Plan plan;
  private final Replica replica;
  private final GraphSession session;
  private final Examples examples;
  private final TrainingObserver observer;
  private final int width;
  private final double[] losses;
  private final List<Long> nanos = new ArrayList<>();
  private final long askedBefore;
  private int epoch = -1;
  private int[] order = new int[0];
  private long total;
  private double epochLoss;
  private int epochSteps;

  /// The plan of a worker's steps.
  ///
  /// @param columns the assignment of examples to batches
  /// @param index of the worker
  /// @param begin the first step, counted from the first step before any checkpoint
  /// @param limit of a step
  record Plan(
      TrainingSettings settings,
      Servers servers,
      Columns columns,
      int index,
      int begin,
      Duration limit) {

    /// Returns the number of steps of the whole run.
    int steps() {
      return columns.steps() * settings.epochs();
    }

    /// Returns whether an epoch ends with this step.
    boolean endsEpoch(int step) {
      return (step + 1) % columns.steps() == 0;
    }

    /// Returns a factor that falls linearly to 0 if updates scale with the gradients, else 1.
    float rateFactor(int step) {
      return settings.optimizer().followsGradientScale()
          ? (float) (1 - step / (double) steps())
          : 1;
    }
  }

  /// @param examples of this worker
  WorkerLoop(
      Plan plan,
      Replica replica,
      GraphSession session,
      Examples examples,
      TrainingObserver observer) {
    this.plan = plan;
    this.replica = replica;
    this.session = session;
    this.examples = examples;
    this.observer = observer;
    this.width = plan.columns.width(plan.index, plan.servers.workers());
    this.losses = new double[plan.steps()];
    Arrays.fill(losses, Double.NaN);
    this.askedBefore = session.requests();
  }

  /// Takes all steps without waiting for other workers. One step of each worker moves the model as
  /// far as one synchronous step.
  ///
  /// @param checkpoints saves when this worker ends an epoch, independently of the others
  void asynchronous(Optional<ServerCheckpoints> checkpoints) throws InterruptedException {
    try (var feed = new Feed(examples, width)) {
      for (int step = plan.begin; step < plan.steps(); step++) {
        fill(feed, step);
        long begin = System.nanoTime();
        float factor = plan.rateFactor(step) / plan.settings.batch();
        Map<String, Tensor> feeds = feeds(feed, factor);
        try (Fetched fetched = session.run(replica.asynchronousStep(), feeds, plan.limit)) {
          took(step, begin, fetched);
        } finally {
          close(feeds);
        }
        if (checkpoints.isPresent() && plan.endsEpoch(step)) {
          checkpoints.get().endEpoch(session, ownLosses(step));
        }
        tell(step);
      }
    }
  }

  /// Returns the mean losses of this worker's share, in the epoch that ends with this step.
  private double[] ownLosses(int step) {
    return Arrays.stream(losses, step + 1 - plan.columns.steps(), step + 1)
        .map(sum -> sum / width)
        .toArray();
  }

  /// Takes all steps together with the other workers. Skips each step that the others completed
  /// before this worker began it.
  void synchronous() throws InterruptedException {
    try (var feed = new Feed(examples, width)) {
      int step = plan.begin;
      while (step < plan.steps()) {
        fill(feed, step);
        long begin = System.nanoTime();
        float mean = (float) plan.servers.workers() / plan.settings.batch();
        Map<String, Tensor> feeds = feeds(feed, plan.rateFactor(step) * mean);
        feeds.put(Accumulated.STEP, TInt64.scalarOf(step - plan.begin));
        int next;
        try (Fetched fetched =
            session.run(replica.synchronousStep(plan.index), feeds, plan.limit)) {
          took(step, begin, fetched);
          next = (int) ((TInt64) fetched.get(1)).getLong();
          for (int left = ((TInt32) fetched.get(2)).getInt(); left > 0; left--) {
            next = further();
          }
        } finally {
          close(feeds);
        }
        tell(step);
        step = next;
      }
    }
  }

  private int further() throws InterruptedException {
    try (Fetched token = session.run(StepTokens.more(plan.index), Map.of(), plan.limit)) {
      return (int) ((TInt64) token.get(0)).getLong();
    }
  }

  private void fill(Feed feed, int step) {
    int perEpoch = plan.columns.steps();
    if (step / perEpoch != epoch) {
      epoch = step / perEpoch;
      order = plan.columns.order(epoch, plan.index, plan.servers.workers());
    }
    feed.fill(order, step % perEpoch * width);
  }

  private static Map<String, Tensor> feeds(Feed feed, float factor) {
    Map<String, Tensor> feeds = new HashMap<>();
    feeds.put(Replica.FEEDS.get(0), feed.features());
    feeds.put(Replica.FEEDS.get(1), feed.labels());
    feeds.put(Replica.FACTOR, TFloat32.scalarOf(factor));
    return feeds;
  }

  /// Closes the feeds except the batch, which belongs to the `Feed`.
  private static void close(Map<String, Tensor> feeds) {
    feeds.keySet().removeAll(Replica.FEEDS);
    feeds.values().forEach(Tensor::close);
  }

  private void took(int step, long begin, Fetched fetched) {
    long taken = System.nanoTime() - begin;
    nanos.add(taken);
    total += taken;
    losses[step] = ((TFloat32) fetched.get(0)).getFloat();
    if (!Double.isFinite(losses[step])) {
      throw new TrainingException.Diverged(
          "the loss became %s in step %d of worker %d; give a smaller --lr than %s"
              .formatted(losses[step], step + 1, plan.index, plan.settings.rate()));
    }
  }

  private void tell(int step) {
    int perEpoch = plan.columns.steps();
    double loss = losses[step] / width;
    observer.onStep(
        new TrainingObserver.TrainedStep(
            step / perEpoch + 1, step % perEpoch + 1, loss, seconds()));
    epochLoss += loss;
    epochSteps++;
    if (plan.endsEpoch(step)) {
      observer.onEpoch(
          new TrainingObserver.TrainedEpoch(
              step / perEpoch + 1, epochLoss / epochSteps, Double.NaN));
      epochLoss = 0;
      epochSteps = 0;
    }
  }

  private double seconds() {
    return total / 1e9;
  }

  /// Returns the duration of each step that was taken.
  List<Long> nanos() {
    return List.copyOf(nanos);
  }

  /// Returns the result of this worker.
  WorkerResults.Row row(long bytesSent) {
    long requests = askedBefore < 0 ? -1 : session.requests() - askedBefore;
    return new WorkerResults.Row(
        true, (long) width * nanos.size(), seconds(), requests, bytesSent, losses.clone());
  }
}
