// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.TransferCounts;
import io.weft.agent.Ticker;
import io.weft.telemetry.metrics.Goodput;
import io.weft.tensor.ReduceOp;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/// The times, bytes and costs of the steps of a run on one rank. Confined to one thread. Observes
/// the job until it is closed.
final class RunMeter implements AutoCloseable {

  private final TrainingJob job;
  private final RankExchange exchange;
  private final StepMeter meter = new StepMeter(Ticker.SYSTEM);
  private final TimingRecorder recorder;
  private long stepsTaken;
  private double stepBytes;
  private long sentBefore;
  private boolean hasBegun;
  private long begunNanos;
  private double cpuBefore;

  RunMeter(TrainingJob job, RankExchange exchange) {
    this.job = job;
    this.exchange = exchange;
    this.recorder = new TimingRecorder(exchange, job);
    job.observe(meter);
  }

  /// Prepares for an epoch. Collective.
  void beginEpoch() {
    recorder.beginEpoch();
  }

  /// Counts the bytes of steps from now on.
  void beginSteps() {
    sentBefore = job.bytesSent();
  }

  /// Records that a step begins, before it reads its input.
  void beginInput() {
    job.goodput().start(job.timeline().nanos() - job.begunNanos());
    if (!hasBegun) {
      hasBegun = true;
      begunNanos = Ticker.SYSTEM.nanos();
      cpuBefore = TrainingCost.ownCpuSeconds();
    }
  }

  /// Begins to measure a step.
  void beginStep() {
    meter.begin();
  }

  /// Ends the measurement of a step.
  ///
  /// @param submitted see `StepMeter.end`
  StepMeter.MeteredStep endStep(OptionalLong submitted) {
    return meter.end(submitted);
  }

  /// Adds a measured step.
  ///
  /// @param inputNanos the time for its input
  void add(StepMeter.MeteredStep step, long inputNanos) {
    job.goodput().step(step.total(), step.exposed(), inputNanos);
    recorder.add(step);
    stepsTaken++;
  }

  /// Ends the count of the bytes of steps.
  void endSteps() {
    stepBytes += job.bytesSent() - sentBefore;
  }

  /// Compares the steps of the epoch over the ranks. Collective.
  void endEpoch() {
    recorder.endEpoch();
  }

  /// Ends the current epoch, because a rank was lost.
  void interrupt() {
    meter.forget();
    recorder.cut();
  }

  /// Returns whether the time limit has passed on any rank since the first step. Collective if
  /// there is a limit.
  boolean isOver(Limit limit) {
    Optional<Duration> time = limit.time();
    if (time.isEmpty() || !hasBegun) {
      return false;
    }
    long nanos = Ticker.SYSTEM.nanos() - begunNanos;
    double over = nanos >= ClampedDuration.nanos(time.get()) ? 1 : 0;
    return exchange.combine("over", ReduceOp.MAX, over)[0] > 0;
  }

  /// Returns means over the ranks. Collective.
  Timing timing(int batch) {
    return recorder.result(batch);
  }

  /// Returns the cost of the run until now. Collective.
  TrainingCost cost() {
    if (!hasBegun) {
      return new TrainingCost(0, 0, 0);
    }
    double seconds = (Ticker.SYSTEM.nanos() - begunNanos) / 1e9;
    double cpu = TrainingCost.ownCpuSeconds() - cpuBefore;
    double all = exchange.combine("processors", ReduceOp.SUM, cpu)[0];
    return new TrainingCost(stepsTaken, seconds, all);
  }

  /// Returns the traffic of all ranks. Collective.
  Traffic traffic() {
    TransferCounts own = job.transfers();
    double[] sums =
        exchange.combine(
            "bytes",
            ReduceOp.SUM,
            (double) job.bytesSent(),
            stepBytes,
            (double) own.registrations(),
            (double) own.oneSidedBytes(),
            (double) own.ringBytes(),
            (double) own.copiedBytes());
    return Traffic.of(
        (long) sums[0],
        exchange.alone() || stepsTaken == 0
            ? OptionalDouble.empty()
            : OptionalDouble.of(sums[1] / stepsTaken),
        new TransferCounts((long) sums[2], (long) sums[3], (long) sums[4], (long) sums[5]));
  }

  /// Returns the job's use of time. Collective.
  Goodput goodput() {
    double[] mine = job.goodput().nanos();
    double[] sums = exchange.combine("goodput", ReduceOp.SUM, mine);
    double wall = (double) (job.timeline().nanos() - job.begunNanos());
    return Goodput.ofSums(sums, exchange.combine("wall", ReduceOp.SUM, wall)[0], job.size());
  }

  @Override
  public void close() {
    job.unobserve(meter);
  }
}
