// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.rate;

/// The linear scaling of the learning rate with warm-up [GOYAL17 §2]. On n ranks with a batch each,
/// a step sees n times the examples, so the rate becomes n times the rate of one rank. The rate
/// begins with that of one rank and grows linearly, because large rates harm a network at the
/// beginning of its training. Immutable; any thread.
///
/// @param rate the rate for one rank; positive, and a FLOAT32 number when multiplied by `ranks`
/// @param ranks the number of training ranks; at least 1
/// @param steps steps of the warm-up; 0 = no warm-up
public record LearningRateWarmup(double rate, int ranks, long steps) {

  /// Throws `IllegalArgumentException` for an argument outside its range.
  public LearningRateWarmup {
    if (!(rate >= Float.MIN_NORMAL)) {
      throw new IllegalArgumentException(
          "the learning rate of one rank is a number of FLOAT32 above 0, got " + rate);
    }
    if (ranks < 1 || steps < 0) {
      throw new IllegalArgumentException(
          "%d ranks and %d steps of warm-up; at least 1 rank and 0 steps".formatted(ranks, steps));
    }
    if (rate * ranks > Float.MAX_VALUE) {
      throw new IllegalArgumentException(
          "the learning rate of one rank is %s, that of %d ranks %s, which FLOAT32 does not hold"
              .formatted(rate, ranks, rate * ranks));
    }
  }

  /// Returns the rate of a step. Throws `IllegalArgumentException` for a step below 0.
  ///
  /// @param step number of the step, from 0
  public double at(long step) {
    if (step < 0) {
      throw new IllegalArgumentException("the warm-up begins with step 0, got step " + step);
    }
    double part = step >= steps ? 1 : (double) step / steps;
    return rate * (1 + (ranks - 1) * part);
  }
}
