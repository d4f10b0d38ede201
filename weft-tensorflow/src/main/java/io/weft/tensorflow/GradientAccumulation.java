// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensorflow.GradientOptions.Accumulation;
import io.weft.tensorflow.GradientOptions.Total;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.Output;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.framework.optimizers.Optimizer.GradAndVar;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TBool;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.family.TType;

/// The accumulation of gradients in variables. Each run adds its gradients, and every N-th run
/// releases the totals. In the other runs the totals are dead tensors, as after TensorFlow's
/// `Switch`, so no op that needs them runs: neither the average over ranks nor the update of a
/// variable.
///
/// Variables and counter are reset once the totals have been averaged. A run that fails earlier
/// leaves them unchanged, and the next run releases the totals with its own gradients included.
final class GradientAccumulation {

  private static final String SLOT = "accumulated";
  private static final String COUNTER = "weft_passes";

  private final Ops tf;
  private final Accumulation options;
  private final Variable<TInt32> counter;
  private final Operand<TInt32> pass;
  private final Operand<TBool> due;
  private final List<Variable<?>> sums = new ArrayList<>();

  GradientAccumulation(Graph graph, Accumulation options) {
    this.tf = Ops.create(graph);
    this.options = options;
    this.counter = variable(COUNTER, Shape.scalar(), TInt32.class);
    this.pass = tf.assignAdd(counter, tf.constant(1));
    this.due = tf.math.greaterEqual(pass, tf.constant(options.passes()));
  }

  /// Returns whether a variable of this name is a sum or the counter of an accumulation.
  static boolean owns(String variable) {
    return variable.equals(COUNTER) || variable.endsWith("-" + SLOT);
  }

  /// Returns the accumulated totals of these gradients.
  List<GradAndVar<?>> totals(List<GradAndVar<?>> gradients) {
    List<GradAndVar<?>> totals = new ArrayList<>();
    for (GradAndVar<?> gradient : gradients) {
      totals.add(gradient.getGradient().isClosed() ? gradient : total(gradient));
    }
    return totals;
  }

  private <T extends TType> GradAndVar<T> total(GradAndVar<T> gradient) {
    Output<T> variable = gradient.getVariable();
    Class<T> type = gradient.getGradient().type();
    Variable<T> sum = variable(Optimizer.createName(variable, SLOT), variable.shape(), type);
    sums.add(sum);
    Operand<T> added = tf.assignAdd(sum, gradient.getGradient());
    // A copy, because the variable may be zeroed while the optimizer still reads.
    Operand<T> total = tf.deepCopy(tf.switchCond(added, due).outputTrue());
    if (options.total() == Total.MEAN) {
      total = tf.math.div(total, tf.dtypes.cast(pass, type));
    }
    return new GradAndVar<>(total.asOutput(), variable);
  }

  /// Returns an op that runs `step` and then resets the accumulation. Either all of it runs or
  /// none.
  ///
  /// @param averaged the averaged totals that the variables receive
  Op thenBegin(Op step, List<GradAndVar<? extends TType>> averaged) {
    List<Op> there = new ArrayList<>();
    for (GradAndVar<?> gradient : averaged) {
      if (!gradient.getGradient().isClosed()) {
        there.add(gradient.getGradient());
      }
    }
    Ops after = tf.withControlDependencies(there);
    List<Operation> all = new ArrayList<>();
    all.add(step.op());
    for (Variable<?> sum : sums) {
      all.add(zero(after, sum));
    }
    all.add(after.assign(counter, after.constant(0)).op());
    return org.tensorflow.op.core.NoOp.create(
        tf.scope().withName("weft_accumulated").withControlDependencyOps(all));
  }

  private static <T extends TType> Operation zero(Ops after, Variable<T> sum) {
    return after.assign(sum, after.zerosLike(sum)).op();
  }

  private <T extends TType> Variable<T> variable(String name, Shape shape, Class<T> type) {
    Variable<T> variable = tf.withName(name).variable(shape, type);
    Ops init = tf.withInitScope();
    init.assign(variable, init.zeros(init.constant(shape.asArray()), type));
    return variable;
  }
}
