// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensor.ReduceOp;
import java.util.List;
import org.tensorflow.GraphOperation;
import org.tensorflow.Operand;
import org.tensorflow.OperationAttributeInspector;
import org.tensorflow.Output;
import org.tensorflow.op.Ops;
import org.tensorflow.op.RawCustomGradient;
import org.tensorflow.types.family.TType;

/// The gradient of `WeftAllreduce`, for a loss that is the sum of the ranks' losses. Each rank's
/// input adds to every rank's output with weight 1 (SUM) or 1/n (AVERAGE), so the gradient of the
/// input is the same reduction of the outputs' gradients.
final class AllreduceGradient implements RawCustomGradient {

  @Override
  public List<Operand<?>> call(Ops tf, GraphOperation op, List<Output<?>> gradients) {
    OperationAttributeInspector attributes = op.attributes();
    ReduceOp reduction = ReduceOp.valueOf(attributes.getAttrString("op"));
    if (reduction != ReduceOp.SUM && reduction != ReduceOp.AVERAGE) {
      throw new IllegalArgumentException(
          "the allreduce '"
              + op.name()
              + "' computes "
              + reduction
              + ", which has no gradient here; only SUM and AVERAGE have");
    }
    int communicator = Math.toIntExact(attributes.getAttrInt("communicator"));
    return List.of(reduce(tf, gradients.getFirst(), communicator, reduction));
  }

  /// TensorFlow holds the graph's lock here, so the graph cannot be asked for a node: the name has
  /// no '/' and is left to the scope, which is named after the op.
  private static <T extends TType> Operand<T> reduce(
      Ops tf, Output<T> gradient, int communicator, ReduceOp reduction) {
    return new WeftOps(tf.scope(), communicator).allreduce(gradient, "gradient", reduction);
  }
}
