// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.agent.Ticker;
import io.weft.telemetry.timeline.JobClock;
import io.weft.telemetry.timeline.Waiting;
import io.weft.tensor.ReduceOp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// A recorder of step times, which compares them over the ranks at the end of each epoch by the
/// clock of the first rank. Within the exposed communication of a step, a rank waits until the last
/// rank has submitted its last gradient of that step (`Waiting`). The report of a timeline uses the
/// same definition. Confined to one thread.
final class TimingRecorder {

  /// The time after the first step from which steps count as steady.
  private static final long WARM_NANOS = 5_000_000_000L;

  private final RankExchange exchange;
  private final TrainingJob job;
  private final JobClock clock = new JobClock(Ticker.SYSTEM);
  private final List<StepMeter.MeteredStep> epoch = new ArrayList<>();
  private final Sums all = new Sums();
  private final Sums steady = new Sums();
  private long firstBegun = -1;

  /// The sums of the times of some steps, in seconds, and a list of their nanoseconds.
  private static final class Sums {
    private final List<Long> totals = new ArrayList<>();
    private double compute;
    private double communication;
    private double wait;
    private double inFlight;

    /// Adds a step in which this rank waited `late` nanoseconds for another rank.
    private void add(StepMeter.MeteredStep step, long late) {
      wait += late / 1e9;
      communication += (step.exposed() - late) / 1e9;
      compute += (step.total() - step.exposed()) / 1e9;
      inFlight += step.inFlight() / 1e9;
      totals.add(step.total());
    }
  }

  TimingRecorder(RankExchange exchange, TrainingJob job) {
    this.exchange = exchange;
    this.job = job;
  }

  void add(StepMeter.MeteredStep step) {
    epoch.add(step);
  }

  /// Prepares for the first step of an epoch. Collective.
  void beginEpoch() {
    if (!clock.isCompared()) {
      exchange.compare(clock);
    }
  }

  /// Compares the steps of the epoch over the ranks and adds them. Collective.
  void endEpoch() {
    exchange.compare(clock);
    double[] ready = new double[epoch.size()];
    Arrays.setAll(ready, s -> clock.firstRankNanos(epoch.get(s).readyNanos()));
    double[] slowest =
        ready.length == 0 ? ready : exchange.combine("timing/ready", ReduceOp.MAX, ready);
    double[] who = new double[ready.length];
    Arrays.setAll(who, s -> ready[s] == slowest[s] ? job.rank() : job.size());
    double[] slow = ready.length == 0 ? who : exchange.combine("timing/slowest", ReduceOp.MIN, who);
    for (int s = 0; s < epoch.size(); s++) {
      StepMeter.MeteredStep step = epoch.get(s);
      long own = (long) ready[s];
      long late = Waiting.nanos(own, own + step.exposed(), (long) slowest[s]);
      if ((int) slow[s] < job.size()) {
        job.goodput().addWaiting(job.members().get((int) slow[s]), late);
      }
      add(step, late);
    }
    epoch.clear();
  }

  private void add(StepMeter.MeteredStep step, long late) {
    if (firstBegun < 0) {
      firstBegun = step.begunNanos();
    }
    all.add(step, late);
    if (step.begunNanos() - firstBegun >= WARM_NANOS) {
      steady.add(step, late);
    }
  }

  /// Adds the steps of an epoch in which a rank was lost. They are not compared with the steps of
  /// the other ranks, so time spent waiting for another rank counts as communicating.
  void cut() {
    for (StepMeter.MeteredStep step : epoch) {
      add(step, 0);
    }
    epoch.clear();
    clock.forget();
  }

  /// Returns means over the ranks. Collective.
  Timing result(int batch) {
    Timing warm = result("timing/steady", steady, batch, Optional.empty());
    Optional<Timing> known =
        warm.samplesPerSecond() > 0 && !warm.stepNanos().isEmpty()
            ? Optional.of(warm)
            : Optional.empty();
    return result("timing/shares", all, batch, known);
  }

  private Timing result(String name, Sums sums, int batch, Optional<Timing> of) {
    double[] mean =
        exchange.combine(
            name, ReduceOp.AVERAGE, sums.compute, sums.communication, sums.wait, sums.inFlight);
    double seconds = mean[0] + mean[1] + mean[2];
    double rate = seconds == 0 ? 0 : (double) batch * sums.totals.size() / seconds;
    return new Timing(rate, sums.totals, mean[0], mean[1], mean[2], mean[3], of);
  }
}
