// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.local;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// The outer optimizer, gradient descent with Nesterov momentum [DILOCO §2]. It computes new
/// weights from the old ones and the outer gradient, which is the old weights minus the ranks'
/// weights, averaged over the ranks. With learning rate 1 and momentum 0 the new weights are the
/// mean of the ranks' weights. Stateless; any thread.
///
/// @param learningRate learning rate, positive and at most 10
/// @param momentum momentum, at least 0 and less than 1
public record OuterOptimizer(float learningRate, float momentum) {

  /// The optimizer of [DILOCO §3.1]: learning rate 0.7, momentum 0.9.
  public static final OuterOptimizer NESTEROV = new OuterOptimizer(0.7f, 0.9f);

  /// The optimizer whose new weights are the mean of the ranks' weights.
  public static final OuterOptimizer MEAN = new OuterOptimizer(1, 0);

  /// Throws `IllegalArgumentException` for rates outside their ranges and for subnormal rates.
  public OuterOptimizer {
    if (!(learningRate >= Float.MIN_NORMAL && learningRate <= 10)) {
      throw new IllegalArgumentException(
          "the outer learning rate is above 0 and at most 10, got " + learningRate);
    }
    if (!(momentum == 0 || (momentum >= Float.MIN_NORMAL && momentum < 1))) {
      throw new IllegalArgumentException(
          "the outer momentum is from 0 and below 1, got " + momentum);
    }
  }

  /// Takes a step in place: velocity = momentum * velocity + gradient; weights -= learning rate *
  /// (gradient + momentum * velocity).
  ///
  /// Hot path.
  ///
  /// @param weights FLOAT32, the weights on which the ranks agreed last
  /// @param velocity of the same length, zeros at first
  /// @param gradient of the same length
  void step(MemorySegment weights, MemorySegment velocity, MemorySegment gradient, long elements) {
    for (long i = 0; i < elements; i++) {
      float slope = gradient.getAtIndex(JAVA_FLOAT_UNALIGNED, i);
      float speed = momentum * velocity.getAtIndex(JAVA_FLOAT_UNALIGNED, i) + slope;
      velocity.setAtIndex(JAVA_FLOAT_UNALIGNED, i, speed);
      float weight = weights.getAtIndex(JAVA_FLOAT_UNALIGNED, i);
      weights.setAtIndex(
          JAVA_FLOAT_UNALIGNED, i, weight - learningRate * (slope + momentum * speed));
    }
  }
}
