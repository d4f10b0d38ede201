// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.Weft;
import io.weft.kv.spec.TableCounts;
import io.weft.workloads.batch.RankShards;
import io.weft.workloads.training.TrainingCost;
import io.weft.workloads.training.TrainingEngine;
import io.weft.workloads.training.TrainingLoop;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/// The losses and times of the steps that a worker has taken. Steps are numbered from the first
/// step of the first epoch. Confined to one thread.
public final class WorkerSteps {

  private static final double NANOS = 1e9;

  /// The time after the first step in which Java and TensorFlow still compile.
  private static final long WARM_NANOS = 5_000_000_000L;

  private final TrainingSettings settings;
  private final RankShards share;
  private final int perEpoch;
  private final double[] losses;
  private final List<Long> nanos = new ArrayList<>();
  private final List<Long> exposed = new ArrayList<>();

  /// Creates a record without steps.
  public WorkerSteps(TrainingSettings settings, WorkerShard shard) {
    this.settings = settings;
    this.share = shard.share();
    this.perEpoch = shard.columns().steps();
    this.losses = new double[perEpoch * settings.epochs()];
    Arrays.fill(losses, Double.NaN);
  }

  /// Returns the number of steps of the whole training.
  int count() {
    return losses.length;
  }

  /// Records the time for which the next recorded step waited for servers and computed nothing.
  public void exposed(long waited) {
    exposed.add(waited);
  }

  /// Records a step. Throws `TrainingException.Diverged` if its loss is not finite.
  ///
  /// @param step the number of the step
  /// @param lossSum sum of the losses of this worker's examples
  /// @param taken the duration in nanoseconds
  /// @param next the number of the next step
  public TrainingEngine.Step took(int step, double lossSum, long taken, int next) {
    nanos.add(taken);
    losses[step] = lossSum;
    String where = "step %d of worker %d".formatted(step + 1, share.rank());
    TrainingLoop.requireFinite(lossSum, where, settings);
    return new TrainingEngine.Step(
        lossSum / share.width(), taken, next - step / perEpoch * perEpoch);
  }

  /// Returns the mean loss of each of this worker's steps in an epoch, NaN for a step that it did
  /// not take.
  double[] means(int epoch) {
    return Arrays.stream(losses, epoch * perEpoch, (epoch + 1) * perEpoch)
        .map(sum -> sum / share.width())
        .toArray();
  }

  /// Returns the mean loss of this worker's steps in an epoch; empty without steps.
  public Optional<TrainingObserver.TrainedEpoch> epoch(int epoch) {
    OptionalDouble mean = Arrays.stream(means(epoch)).filter(Double::isFinite).average();
    return mean.isEmpty()
        ? Optional.empty()
        : Optional.of(new TrainingObserver.TrainedEpoch(epoch + 1, mean.getAsDouble(), Double.NaN));
  }

  /// Returns the duration of each step that was taken.
  List<Long> nanos() {
    return List.copyOf(nanos);
  }

  /// Returns the exposed time of the steps that began 5 s or more after the first one, or of all
  /// steps if there are none.
  private WorkerRow.Exposure exposure() {
    long warm = 0;
    int first = 0;
    while (first < exposed.size() && warm < WARM_NANOS) {
      warm += nanos.get(first++);
    }
    int from = first == exposed.size() ? 0 : first;
    double waited = sum(exposed.subList(from, exposed.size()));
    double all = sum(nanos.subList(from, exposed.size()));
    return new WorkerRow.Exposure(waited / NANOS, all / NANOS);
  }

  private static double sum(List<Long> some) {
    return some.stream().mapToLong(Long::longValue).sum();
  }

  /// Returns the result of this worker.
  ///
  /// @param requests in which it requested tensors; negative if unknown
  /// @param tables the counts of requests to tables
  public WorkerRow row(long requests, Weft weft, TableCounts tables) {
    double seconds = sum(nanos) / NANOS;
    long examples = (long) share.width() * nanos.size();
    return new WorkerRow(
        true,
        new WorkerRow.Effort(examples, seconds, TrainingCost.ownCpuSeconds()),
        requests,
        weft.bytesSent(),
        weft.transfers(),
        tables,
        exposure(),
        losses.clone());
  }
}
