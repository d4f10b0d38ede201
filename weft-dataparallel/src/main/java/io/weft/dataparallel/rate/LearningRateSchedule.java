// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.rate;

import java.util.List;
import java.util.function.DoubleUnaryOperator;

/// The learning rate of each step: a base rate times a multiplier, which a phase computes from the
/// epoch. After the end of a phase its last rate remains until the next phase. Before the first
/// phase the rate is the base rate. It corresponds to Horovod's `LearningRateScheduleCallback` and
/// `LearningRateWarmupCallback`. Immutable, and equal on all ranks with equal arguments; any
/// thread.
///
/// ```java
/// var schedule =
///     new LearningRateSchedule(0.1 * ranks, steps, List.of(
///         Phase.warmup(5, ranks, steps),
///         Phase.constant(5, 30, 1),
///         Phase.constant(30, 60, 0.1),
///         Phase.constant(60, Phase.END, 0.01)));
/// ```
///
/// @param rate base rate of all ranks together; a positive FLOAT32 number
/// @param stepsPerEpoch steps per epoch, at least 1
/// @param phases phases in the order of epochs, without overlap
public record LearningRateSchedule(double rate, long stepsPerEpoch, List<Phase> phases) {

  /// The times at which a multiplier changes within a phase.
  public enum Change {
    /// The multiplier changes at the first step of an epoch.
    STAIRCASE,
    /// The multiplier changes at each step; the epoch is then a fraction.
    SMOOTH
  }

  /// A range of epochs with one rule for the multiplier.
  ///
  /// @param first first epoch of the phase, from 0
  /// @param end the epoch after the last of the phase; `END` = the phase does not end
  /// @param change the times at which the multiplier changes
  /// @param multiplier returns the multiplier of an epoch, at least 0; must be pure
  public record Phase(int first, int end, Change change, DoubleUnaryOperator multiplier) {

    /// The end of a phase that does not end.
    public static final int END = Integer.MAX_VALUE;

    /// Throws `IllegalArgumentException` unless `first` is at least 0 and `end` is greater than
    /// `first`.
    public Phase {
      if (first < 0 || end <= first) {
        throw new IllegalArgumentException(
            "a phase of epochs %d to %d; it begins at 0 or later and has an epoch"
                .formatted(first, end));
      }
    }

    /// Returns a phase with the same multiplier in all its epochs.
    public static Phase constant(int first, int end, double multiplier) {
      return new Phase(first, end, Change.STAIRCASE, epoch -> multiplier);
    }

    /// Returns the warm-up of the first epochs. The rate grows linearly from the rate of one rank,
    /// 1/n of the base rate, to the base rate at the last step [GOYAL17 §2.2]. Throws
    /// `IllegalArgumentException` for less than one epoch, rank or step.
    public static Phase warmup(int epochs, int ranks, long stepsPerEpoch) {
      if (epochs < 1 || ranks < 1 || stepsPerEpoch < 1) {
        throw new IllegalArgumentException(
            "a warm-up of %d epochs of %d steps on %d ranks; at least 1 of each"
                .formatted(epochs, stepsPerEpoch, ranks));
      }
      double step = 1.0 / stepsPerEpoch;
      return new Phase(
          0, epochs, Change.SMOOTH, epoch -> ((epoch + step) * (ranks - 1) / epochs + 1) / ranks);
    }
  }

  /// Copies the phases. Throws `IllegalArgumentException` for a rate or a number of steps outside
  /// its range, or phases that overlap.
  public LearningRateSchedule {
    phases = List.copyOf(phases);
    if (!(rate >= Float.MIN_NORMAL && rate <= Float.MAX_VALUE)) {
      throw new IllegalArgumentException(
          "the base learning rate is a number of FLOAT32 above 0, got " + rate);
    }
    if (stepsPerEpoch < 1) {
      throw new IllegalArgumentException(
          "an epoch has at least 1 step, got " + stepsPerEpoch + " steps");
    }
    for (int i = 1; i < phases.size(); i++) {
      if (phases.get(i).first() < phases.get(i - 1).end()) {
        throw new IllegalArgumentException(
            "a phase begins at epoch %d, and the one before ends at %d; they do not overlap"
                .formatted(phases.get(i).first(), phases.get(i - 1).end()));
      }
    }
  }

  /// Returns the rate of a step. Throws `IllegalArgumentException` for a step below 0. Throws it
  /// also, with the epoch, if the multiplier makes the rate negative or not a FLOAT32 number.
  ///
  /// @param step number of the step, from 0
  public double at(long step) {
    if (step < 0) {
      throw new IllegalArgumentException("a schedule begins with step 0, got step " + step);
    }
    Phase phase = null;
    for (Phase each : phases) {
      if (each.first() <= step / stepsPerEpoch) {
        phase = each;
      }
    }
    if (phase == null) {
      return rate;
    }
    // After the phase's end, the rate of its last step remains.
    boolean over = phase.end() != Phase.END && step / stepsPerEpoch >= phase.end();
    long of = over ? Math.multiplyExact(phase.end(), stepsPerEpoch) - 1 : step;
    long whole = of / stepsPerEpoch;
    double epoch = phase.change() == Change.STAIRCASE ? whole : (double) of / stepsPerEpoch;
    double multiplier = phase.multiplier().applyAsDouble(epoch);
    double product = rate * multiplier;
    if (!(product >= 0 && product <= Float.MAX_VALUE)) {
      throw new IllegalArgumentException(
          "the multiplier of epoch %s is %s, and the learning rate %s: not a FLOAT32 number from 0"
              .formatted(epoch, multiplier, product));
    }
    return product;
  }

  /// Returns the factor of the momentum in this step alone: the rate of the step divided by the
  /// rate of the step before, which converts a velocity accumulated at the old rate to the new rate
  /// [GOYAL17 §3]. The factor is 1 in the first step, and if either rate is 0. It serves optimizers
  /// whose velocity does not include the rate. Throws as `at` does.
  public double momentumFactor(long step) {
    double now = at(step);
    double before = step == 0 ? now : at(step - 1);
    return now == 0 || before == 0 ? 1 : now / before;
  }
}
