// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.rate.LearningRateWarmup;
import java.util.Objects;

/// The linear scaling of the learning rate with the ranks, each of which adds examples to a step
/// [GOYAL17 §2.1]. The rate grows to its final value during a warm-up [GOYAL17 §2.2].
///
/// @param ranks by which the rate of one rank is multiplied, at least 1
/// @param length of the warm-up
public record RateScaling(int ranks, Length length) {

  private static final int USUAL_EPOCHS = 5;
  private static final int USUAL_PART = 4;

  /// The length of a warm-up.
  public sealed interface Length {

    /// The first 5 epochs, but at most the first quarter of the steps.
    record Usual() implements Length {}

    /// A number of epochs, which need not be whole.
    record Epochs(double count) implements Length {

      /// Throws `IllegalArgumentException` unless the number is finite and at least 0.
      public Epochs {
        if (!(count >= 0 && count < Double.POSITIVE_INFINITY)) {
          throw new IllegalArgumentException("a warm-up of " + count + " epochs");
        }
      }

      @Override
      public String toString() {
        return count + " epochs";
      }
    }

    /// A number of steps.
    record Steps(long count) implements Length {

      /// Throws `IllegalArgumentException` for a negative number.
      public Steps {
        if (count < 0) {
          throw new IllegalArgumentException("a warm-up of " + count + " steps");
        }
      }

      @Override
      public String toString() {
        return count + " steps";
      }
    }
  }

  /// Throws `IllegalArgumentException` for less than one rank.
  public RateScaling {
    Objects.requireNonNull(length, "length");
    if (ranks < 1) {
      throw new IllegalArgumentException("a learning rate of " + ranks + " ranks");
    }
  }

  /// Returns the scaling for another number of ranks.
  public RateScaling in(int other) {
    return new RateScaling(other, length);
  }

  /// Returns the rates of a training. Throws `TrainingException.Unfit` if the warm-up is longer
  /// than the training.
  LearningRateWarmup of(TrainingSettings settings, int stepsPerEpoch) {
    long all = settings.steps(stepsPerEpoch);
    long steps =
        switch (length) {
          case Length.Usual _ -> Math.min((long) USUAL_EPOCHS * stepsPerEpoch, all / USUAL_PART);
          case Length.Epochs epochs -> Math.round(epochs.count * stepsPerEpoch);
          case Length.Steps given -> given.count;
        };
    if (steps > all) {
      throw new TrainingException.Unfit(
          "the learning rate would warm up over %d steps, but the training has %d; give less than %s"
              .formatted(steps, all, length));
    }
    return new LearningRateWarmup(settings.rate(), ranks, steps);
  }

  @Override
  public String toString() {
    return length instanceof Length.Usual ? "on" : "on, " + length;
  }
}
