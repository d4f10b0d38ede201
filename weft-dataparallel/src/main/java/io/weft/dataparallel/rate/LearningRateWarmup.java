// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.rate;

/// Linear scaling of the learning rate with warm-up [GOYAL17 §2]: n ranks with a batch each see n
/// times the examples in a step, so the rate becomes n times that of one rank; it begins with that
/// of one rank and grows in a straight line, since large rates harm a network that has learnt
/// nothing yet. Immutable; any thread.
///
/// @param rate that is good for one rank; above 0
/// @param ranks that train; at least 1
/// @param steps of the warm-up; 0 for none
public record LearningRateWarmup(double rate, int ranks, long steps) {

  /// Throws `IllegalArgumentException` for what is not allowed.
  public LearningRateWarmup {
    if (!(rate > 0 && rate <= Double.MAX_VALUE)) {
      throw new IllegalArgumentException("the learning rate of one rank is above 0, got " + rate);
    }
    if (ranks < 1 || steps < 0) {
      throw new IllegalArgumentException(
          "%d ranks and %d steps of warm-up; at least 1 rank and 0 steps".formatted(ranks, steps));
    }
  }

  /// The rate of a step.
  ///
  /// @param step from 0
  public double at(long step) {
    double part = step >= steps ? 1 : (double) step / steps;
    return rate * (1 + (ranks - 1) * part);
  }
}
