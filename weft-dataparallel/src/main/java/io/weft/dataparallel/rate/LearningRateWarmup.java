// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.rate;

/// Linear scaling of the learning rate with warm-up [GOYAL17 §2]: n ranks with a batch each see n
/// times the examples in a step, so the rate becomes n times that of one rank; it begins with that
/// of one rank and grows in a straight line, since large rates harm a network that has learnt
/// nothing yet. Immutable; any thread.
///
/// @param rate that is good for one rank; above 0, and with all ranks a number of FLOAT32
/// @param ranks that train; at least 1
/// @param steps of the warm-up; 0 for none
public record LearningRateWarmup(double rate, int ranks, long steps) {

  /// Throws `IllegalArgumentException` for what is not allowed.
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
  /// @param step from 0
  public double at(long step) {
    if (step < 0) {
      throw new IllegalArgumentException("the warm-up begins with step 0, got step " + step);
    }
    double part = step >= steps ? 1 : (double) step / steps;
    return rate * (1 + (ranks - 1) * part);
  }
}
