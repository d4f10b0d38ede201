// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensor.ReduceOp;
import java.util.stream.IntStream;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;
import org.tensorflow.types.family.TFloating;

/// Batch normalisation with mean and variance over the batches of all ranks, as one rank would
/// compute them over the joint batch. The same holds for the gradients. Channels are the last
/// dimension. For training; a trained network uses `normalize` with the mean and variance kept by
/// `MovingMoments`.
///
/// Ranks are weighted by their number of rows. Three small allreduces sum the numbers of rows, the
/// values, and the squared distances from the joint mean. The difference between the mean of
/// squares and the squared mean would lose digits. The gradient needs two more allreduces.
public final class SyncBatchNorm {

  private final Ops tf;
  private final WeftOps weft;
  private final String name;
  private final double epsilon;

  /// Creates the normalisation in `graph`, over the ranks of `weft`. Throws
  /// `IllegalArgumentException` for an epsilon that is neither 0 nor a positive normal number of
  /// FLOAT32.
  ///
  /// @param weft ops of the same graph
  /// @param name the prefix of its tensor names, equal on all ranks
  /// @param epsilon is added to the variance to avoid a division by zero
  public SyncBatchNorm(Graph graph, WeftOps weft, String name, double epsilon) {
    if (!(epsilon == 0 || (epsilon >= Float.MIN_NORMAL && epsilon <= Float.MAX_VALUE))) {
      throw new IllegalArgumentException(
          "batch normalisation '"
              + name
              + "' adds to the variance 0 or a number of FLOAT32 above it, got "
              + epsilon);
    }
    this.tf = Ops.create(graph);
    this.weft = weft;
    this.name = name;
    this.epsilon = epsilon;
  }

  /// The outputs of the normalisation.
  ///
  /// @param output of the input's shape
  /// @param mean over all ranks, one number per channel
  /// @param variance over all ranks, one number per channel; of the joint batch itself, not an
  ///   estimate
  public record Normalized<T extends TFloating>(
      Operand<T> output, Operand<T> mean, Operand<T> variance) {}

  /// Normalizes each channel over the batches of all ranks. Throws `IllegalArgumentException`
  /// unless the number of dimensions of `x` is known and at least 2.
  ///
  /// @param scale gamma, for each channel
  /// @param offset beta, for each channel
  public <T extends TFloating> Normalized<T> apply(
      Operand<T> x, Operand<T> scale, Operand<T> offset) {
    int dimensions = x.asOutput().shape().numDimensions();
    if (dimensions < 2) {
      throw new IllegalArgumentException(
          "batch normalisation '"
              + name
              + "' takes tensors of rows and channels, got shape "
              + x.asOutput().shape());
    }
    Operand<TInt32> axes = tf.constant(IntStream.range(0, dimensions - 1).toArray());
    Operand<TInt64> rows = tf.math.floorDiv(tf.size(x, TInt64.class), tf.size(scale, TInt64.class));
    Operand<T> all = tf.dtypes.cast(weft.allreduce(rows, name + "_rows", ReduceOp.SUM), x.type());
    Operand<T> mean = tf.math.div(sum(x, axes, "_sum"), all);
    Operand<T> squares = tf.math.square(tf.math.sub(x, mean));
    Operand<T> variance = tf.math.div(sum(squares, axes, "_squares"), all);
    return new Normalized<>(normalize(x, mean, variance, scale, offset), mean, variance);
  }

  /// Normalizes each channel by a given mean and variance, without communication.
  public <T extends TFloating> Operand<T> normalize(
      Operand<T> x, Operand<T> mean, Operand<T> variance, Operand<T> scale, Operand<T> offset) {
    Operand<T> deviation =
        tf.math.rsqrt(tf.math.add(variance, tf.dtypes.cast(tf.constant(epsilon), x.type())));
    Operand<T> factor = tf.math.mul(deviation, scale);
    return tf.math.add(tf.math.mul(tf.math.sub(x, mean), factor), offset);
  }

  private <T extends TFloating> Operand<T> sum(Operand<T> x, Operand<TInt32> axes, String what) {
    return weft.allreduce(tf.reduceSum(x, axes), name + what, ReduceOp.SUM);
  }
}
