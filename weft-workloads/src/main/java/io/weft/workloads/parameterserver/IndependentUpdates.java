// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.workloads.model.OptimizerKind;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;

/// Optimizers whose updates are independent of each other: each variable changes on its server when
/// its own gradient has arrived. TensorFlow Java's optimizers make every update wait for all
/// gradients, by control edges that would all cross between tasks.
///
/// @param kind of optimizer, with the same settings as in other trainings
/// @param rate of learning
record IndependentUpdates(OptimizerKind kind, float rate) {

  private static final float MOMENTUM = 0.9f;

  /// The initial value of accumulators in TensorFlow Java.
  private static final float ACCUMULATED = 0.01f;

  /// Throws `IllegalArgumentException` for Adam, which has state that belongs to no variable.
  IndependentUpdates {
    if (kind == OptimizerKind.ADAM) {
      throw new IllegalArgumentException(kind + " does not train with parameter servers");
    }
  }

  /// Updates a variable with a gradient.
  Op apply(Graph graph, Variable<TFloat32> variable, Output<TFloat32> gradient) {
    Ops tf = Ops.create(graph);
    return switch (kind) {
      case SGD -> tf.train.applyGradientDescent(variable, tf.constant(rate), gradient);
      case MOMENTUM ->
          tf.train.applyMomentum(
              variable,
              slot(tf, variable, "momentum", 0),
              tf.constant(rate),
              gradient,
              tf.constant(MOMENTUM));
      case ADAGRAD ->
          tf.train.applyAdagrad(
              variable,
              slot(tf, variable, "accumulator", ACCUMULATED),
              tf.constant(rate),
              gradient);
      case ADAM -> throw new IllegalStateException("refused");
    };
  }

  private static Operand<TFloat32> slot(
      Ops tf, Variable<TFloat32> variable, String what, float first) {
    Shape shape = variable.asOutput().shape();
    var slot = tf.withName(variable.op().name() + "_" + what).variable(shape, TFloat32.class);
    Ops init = tf.withInitScope();
    var ignored =
        init.assign(slot, init.fill(init.constant(shape.asArray()), init.constant(first)));
    return slot;
  }
}
