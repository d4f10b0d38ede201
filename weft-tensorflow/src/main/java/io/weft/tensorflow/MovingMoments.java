// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensorflow.SyncBatchNorm.Normalized;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.NoOp;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.family.TFloating;

/// Moving averages of the mean and the variance that a `SyncBatchNorm` computes in training. They
/// are variables of the graph, so they are initialized, saved and broadcast with the others. All
/// ranks update them with equal values, so ranks that begin with equal bits keep equal bits. The
/// mean begins at 0, the variance at 1.
///
/// @param <T> type of mean and variance
public final class MovingMoments<T extends TFloating> {

  private final Ops tf;
  private final String name;
  private final double momentum;
  private final Class<T> type;
  private final Variable<T> mean;
  private final Variable<T> variance;

  /// Creates the variables in `graph`. Throws `IllegalArgumentException` for less than one channel,
  /// or for a momentum that is neither 0 nor a normal number of FLOAT32 below 1.
  ///
  /// @param name of the normalisation, with which the variables' names begin
  /// @param channels the number of elements of each average
  /// @param momentum the fraction of the previous average that remains in an update, such as 0.99
  public MovingMoments(Graph graph, String name, long channels, double momentum, Class<T> type) {
    if (channels < 1) {
      throw new IllegalArgumentException(
          "batch normalisation '" + name + "' has at least 1 channel, got " + channels);
    }
    if (!(momentum == 0 || (momentum >= Float.MIN_NORMAL && momentum < 1))) {
      throw new IllegalArgumentException(
          "the momentum of batch normalisation '"
              + name
              + "' is 0, or a normal number of FLOAT32 below 1, got "
              + momentum);
    }
    this.tf = Ops.create(graph);
    this.name = name;
    this.momentum = momentum;
    this.type = type;
    this.mean = variable(name + "_moving_mean", Shape.of(channels), 0);
    this.variance = variable(name + "_moving_variance", Shape.of(channels), 1);
  }

  private Variable<T> variable(String of, Shape shape, double initial) {
    Variable<T> variable = tf.withName(of).variable(shape, type);
    Ops init = tf.withInitScope();
    init.assign(
        variable,
        init.fill(init.constant(shape.asArray()), init.dtypes.cast(init.constant(initial), type)));
    return variable;
  }

  /// Returns the current mean, for `SyncBatchNorm.normalize`.
  public Variable<T> mean() {
    return mean;
  }

  /// Returns the current variance, for `SyncBatchNorm.normalize`.
  public Variable<T> variance() {
    return variance;
  }

  /// Returns an op that updates the averages with a step's moments: average = momentum * average +
  /// (1 - momentum) * moment. Every rank must run it in each training step as an additional target.
  /// The variance is that of the joint batch, as in `Normalized`.
  public Op update(Normalized<T> normalized) {
    List<Operation> both =
        List.of(moved(mean, normalized.mean()), moved(variance, normalized.variance()));
    return NoOp.create(tf.scope().withName(name + "_moving").withControlDependencyOps(both));
  }

  private Operation moved(Variable<T> average, Operand<T> moment) {
    Operand<T> kept = tf.dtypes.cast(tf.constant(momentum), type);
    Operand<T> taken = tf.dtypes.cast(tf.constant(1 - momentum), type);
    return tf.assign(average, tf.math.add(tf.math.mul(average, kept), tf.math.mul(moment, taken)))
        .op();
  }
}
