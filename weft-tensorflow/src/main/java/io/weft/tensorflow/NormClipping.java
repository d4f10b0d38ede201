// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import java.util.ArrayList;
import java.util.List;
import org.tensorflow.Operand;
import org.tensorflow.framework.optimizers.Optimizer.GradAndVar;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.ReduceSum;
import org.tensorflow.types.TFloat64;
import org.tensorflow.types.family.TType;

/// The scaling of gradients to a largest norm of all together. Squares are added in FLOAT64, whose
/// rounding does not reach the factor in FLOAT32, so that ranks with equal gradients apply equal
/// factors, whatever their threads.
final class NormClipping {

  private final Ops tf;
  private final Operand<TFloat64> largest;

  NormClipping(Ops tf, Operand<TFloat64> largest) {
    this.tf = tf;
    this.largest = largest;
  }

  /// Returns the gradients times `largest / max(norm, largest)`. Closed gradients stay.
  List<GradAndVar<?>> clipped(List<GradAndVar<?>> gradients) {
    List<Operand<TFloat64>> squares = new ArrayList<>();
    for (GradAndVar<?> each : gradients) {
      if (!each.getGradient().isClosed()) {
        squares.add(squares(each.getGradient()));
      }
    }
    if (squares.isEmpty()) {
      return gradients;
    }
    Operand<TFloat64> norm = tf.math.sqrt(tf.math.addN(squares));
    Operand<TFloat64> factor = tf.math.div(largest, tf.math.maximum(norm, largest));
    List<GradAndVar<?>> clipped = new ArrayList<>();
    for (GradAndVar<?> each : gradients) {
      clipped.add(each.getGradient().isClosed() ? each : scaled(each, factor));
    }
    return clipped;
  }

  private Operand<TFloat64> squares(Operand<? extends TType> gradient) {
    Operand<TFloat64> wide = tf.dtypes.cast(gradient, TFloat64.class);
    Operand<TFloat64> flat = tf.reshape(tf.math.square(wide), tf.constant(new int[] {-1}));
    return tf.reduceSum(flat, tf.constant(0), ReduceSum.keepDims(false));
  }

  private <T extends TType> GradAndVar<T> scaled(GradAndVar<T> of, Operand<TFloat64> factor) {
    Operand<T> narrow = tf.dtypes.cast(factor, of.getGradient().type());
    return new GradAndVar<>(tf.math.mul(of.getGradient(), narrow).asOutput(), of.getVariable());
  }
}
