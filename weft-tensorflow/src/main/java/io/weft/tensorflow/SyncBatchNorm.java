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

/// Batch normalisation with mean and variance over the batches of all ranks, as one rank has them
/// of the joint batch; so are the gradients. Channels are the last dimension. For training; a
/// trained network uses `normalize` with the mean and the variance that `MovingMoments` has kept.
///
/// Each rank counts by its number of rows. The sums are made in three small allreduces: of the
/// rows, of the values, and of squared distances from the mean of all, since the difference of a
/// mean of squares and a squared mean would lose digits. Two more go back in the gradient.
public final class SyncBatchNorm {

  private final Ops tf;
  private final WeftOps weft;
  private final String name;
  private final double epsilon;

  /// In `graph`, over the ranks of `weft`. Throws `IllegalArgumentException` for an epsilon that is
  /// neither 0 nor a normal number of FLOAT32 above it.
  ///
  /// @param weft of the same graph
  /// @param name of its ops, the same on all ranks
  /// @param epsilon is added to the variance, so that nothing is divided by zero
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

  /// What normalisation gives.
  ///
  /// @param output of the input's shape
  /// @param mean over all ranks, a number for each channel
  /// @param variance likewise; of the joint batch itself, not an estimate
  public record Normalized<T extends TFloating>(
      Operand<T> output, Operand<T> mean, Operand<T> variance) {}

  /// Normalizes each channel over the batches of all ranks. The number of dimensions of `x` must be
  /// known, and at least 2; else `IllegalArgumentException`.
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

  /// Normalizes each channel by a mean and a variance that are known. Asks no other rank.
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
