// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import java.util.Objects;
import java.util.Optional;
import org.tensorflow.Operand;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;

/// The combination of a bag's rows, with weights and with a limit on the norm of each row, as in
/// TensorFlow's `embedding_lookup_sparse`. Immutable.
///
/// @param combiner combines the rows
/// @param weights a factor for each id, of shape ids; empty = 1
/// @param largestNorm the largest L2 norm: a row with a larger one is scaled down to it before it
///   is weighted; infinite = no limit
public record BagOptions(
    Combiner combiner, Optional<Operand<TFloat32>> weights, float largestNorm) {

  /// The square of a norm that is treated as zero, whose root would have no gradient.
  private static final float LEAST_SQUARE = 1e-24f;

  /// Throws `IllegalArgumentException` unless the largest norm is positive.
  public BagOptions {
    Objects.requireNonNull(combiner, "combiner");
    Objects.requireNonNull(weights, "weights");
    if (!(largestNorm > 0)) {
      throw new IllegalArgumentException("a largest norm of " + largestNorm + "; expected above 0");
    }
  }

  /// Returns options without weights and without a limit.
  public static BagOptions of(Combiner combiner) {
    return new BagOptions(combiner, Optional.empty(), Float.POSITIVE_INFINITY);
  }

  /// Returns these options with a factor for each id. A gradient of the combined rows also flows
  /// into the weights. A bag whose weights sum to zero is combined as by `SUM`.
  ///
  /// @param factors of shape ids
  public BagOptions withWeights(Operand<TFloat32> factors) {
    return new BagOptions(combiner, Optional.of(factors), largestNorm);
  }

  /// Returns these options with a limit on the L2 norm of each row.
  public BagOptions withLargestNorm(float norm) {
    return new BagOptions(combiner, weights, norm);
  }

  /// Returns the rows within the limit.
  ///
  /// @param rows of shape ids by width
  Operand<TFloat32> limited(Ops tf, Operand<TFloat32> rows) {
    if (Float.isInfinite(largestNorm)) {
      return rows;
    }
    var along = tf.constant(new int[] {-1});
    Operand<TFloat32> squares = tf.reduceSum(tf.math.square(rows), along);
    Operand<TFloat32> norms = tf.math.sqrt(tf.math.maximum(squares, tf.constant(LEAST_SQUARE)));
    Operand<TFloat32> scales =
        tf.math.minimum(tf.constant(1f), tf.math.div(tf.constant(largestNorm), norms));
    return tf.math.mul(rows, tf.expandDims(scales, tf.constant(1)));
  }
}
