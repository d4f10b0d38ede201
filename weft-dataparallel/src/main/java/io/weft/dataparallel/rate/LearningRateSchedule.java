// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.rate;

import java.util.List;
import java.util.function.DoubleUnaryOperator;

/// The learning rate of each step: a base rate times a multiplier, which phases give by the epoch.
/// Between phases, and behind the last one, the rate stays as it was last; before the first one it
/// is the base rate. Horovod's `LearningRateScheduleCallback` and `LearningRateWarmupCallback`.
/// Immutable, and the same on all ranks that have the same numbers; any thread.
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
/// @param rate base rate, that of all ranks together; a number of FLOAT32 above 0
/// @param stepsPerEpoch at least 1
/// @param phases in the order of epochs, without overlap
public record LearningRateSchedule(double rate, long stepsPerEpoch, List<Phase> phases) {

  /// When a multiplier changes within a phase.
  public enum Change {
    /// At the first step of an epoch.
    STAIRCASE,
    /// At each step: epochs are fractions.
    SMOOTH
  }

  /// Epochs with one rule for the multiplier.
  ///
  /// @param first its first epoch, from 0
  /// @param end the epoch behind its last; `END` for none
  /// @param change when the multiplier changes
  /// @param multiplier of an epoch: pure, a number from 0
  public record Phase(int first, int end, Change change, DoubleUnaryOperator multiplier) {

    /// The end of a phase that has none.
    public static final int END = Integer.MAX_VALUE;

    /// Throws `IllegalArgumentException` unless it has an epoch.
    public Phase {
      if (first < 0 || end <= first) {
        throw new IllegalArgumentException(
            "a phase of epochs %d to %d; it begins at 0 or later and has an epoch"
                .formatted(first, end));
      }
    }

    /// Returns one with the same multiplier in all its epochs.
    public static Phase constant(int first, int end, double multiplier) {
      return new Phase(first, end, Change.STAIRCASE, epoch -> multiplier);
    }

    /// Returns the warm-up of the first epochs: from the rate of one rank, 1/n of the base, in a
    /// straight line to the base rate, which the last step has [GOYAL17 §2.2]. Throws
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

  /// Copies the phases. Throws `IllegalArgumentException` for what is not allowed.
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

  /// Returns the rate of a step. Throws `IllegalArgumentException` for a step below 0, and for a
  /// multiplier that makes of the rate what is no number of FLOAT32 from 0, with the epoch.
  ///
  /// @param step from 0
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
    // Behind its end holds what its last step had.
    boolean over = phase.end() != Phase.END && step / stepsPerEpoch >= phase.end();
    long of = over ? Math.multiplyExact(phase.end(), stepsPerEpoch) - 1 : step;
    long whole = of / stepsPerEpoch;
    double epoch = phase.change() == Change.STAIRCASE ? whole : (double) of / stepsPerEpoch;
    double multiplier = phase.multiplier().applyAsDouble(epoch);
    double product = rate * multiplier;
    if (!(product >= 0 && product <= Float.MAX_VALUE)) {
      throw new IllegalArgumentException(
          "the multiplier of epoch %s is %s, and the learning rate %s: no number of FLOAT32 from 0"
              .formatted(epoch, multiplier, product));
    }
    return product;
  }

  /// Returns what the momentum is multiplied by in this step alone: the rate of the step by that of
  /// the one before, so that a velocity that was gathered at another rate counts as at this one
  /// [GOYAL17 §3]; 1 in the first step, and where one of both rates is 0. For optimizers whose
  /// velocity does not hold the rate. Throws as `at` does.
  public double momentumFactor(long step) {
    double now = at(step);
    double before = step == 0 ? now : at(step - 1);
    return now == 0 || before == 0 ? 1 : now / before;
  }
}
