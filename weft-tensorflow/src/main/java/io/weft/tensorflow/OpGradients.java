// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensor.ReduceOp;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.tensorflow.GraphOperation;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.TensorFlow;
import org.tensorflow.op.Ops;
import org.tensorflow.op.RawCustomGradient;
import org.tensorflow.op.math.Cumsum;
import org.tensorflow.types.TInt64;
import org.tensorflow.types.family.TType;

/// The gradients of Weft's ops, for a loss that is the sum of the ranks' losses. The gradient of an
/// input is a sum over all ranks: its contribution to a rank's output times the gradient of that
/// output.
///
/// TensorFlow holds the graph's lock while it calls these functions, so they cannot query the graph
/// for a node or a shape. Names therefore contain no '/' and are left to the scope, which is named
/// after the op.
final class OpGradients {

  private static final String NAME = "gradient";

  private OpGradients() {}

  /// Registers the gradients, once per process.
  static void register() {
    Map<String, RawCustomGradient> all =
        Map.of(
            OpLibrary.ALLREDUCE, OpGradients::allreduce,
            OpLibrary.BROADCAST, OpGradients::broadcast,
            OpLibrary.ALLGATHER, OpGradients::allgather,
            OpLibrary.REDUCE_SCATTER, OpGradients::reduceScatter,
            OpLibrary.ALLTOALL, OpGradients::alltoall);
    all.forEach(
        (op, gradient) -> {
          if (!TensorFlow.registerCustomGradient(op, gradient)) {
            throw new IllegalStateException("TensorFlow has a gradient for " + op + " already");
          }
        });
  }

  /// Reduces the outputs' gradients with the same operation and factors, because each rank's input
  /// adds to every rank's output with weight 1 (SUM) or 1/n (AVERAGE).
  private static List<Operand<?>> allreduce(Ops tf, GraphOperation op, List<Output<?>> gradients) {
    ReduceOp reduction = linear(op);
    Scale scale =
        new Scale(
            Double.parseDouble(op.attributes().getAttrString(OpAttributes.PRESCALE)),
            Double.parseDouble(op.attributes().getAttrString(OpAttributes.POSTSCALE)));
    return weft(tf, op).groupedAllreduce(whole(tf, op, gradients), NAME, reduction, scale);
  }

  /// Sums the gradients at the root, whose input is every rank's output; others get zeros.
  private static List<Operand<?>> broadcast(Ops tf, GraphOperation op, List<Output<?>> gradients) {
    WeftOps weft = weft(tf, op);
    int root = Math.toIntExact(op.attributes().getAttrInt(OpAttributes.ROOT));
    Operand<org.tensorflow.types.TBool> here = tf.math.equal(weft.rank(), tf.constant(root));
    List<Operand<?>> inputs = new ArrayList<>();
    for (Operand<?> sum : weft.groupedAllreduce(whole(tf, op, gradients), NAME, ReduceOp.SUM)) {
      inputs.add(where(tf, here, sum));
    }
    return inputs;
  }

  private static <T extends TType> Operand<T> where(
      Ops tf, Operand<org.tensorflow.types.TBool> condition, Operand<T> value) {
    return tf.select(condition, value, tf.zerosLike(value));
  }

  /// Returns a rank's part of the summed gradients: its input is part of every rank's output.
  private static List<Operand<?>> allgather(Ops tf, GraphOperation op, List<Output<?>> gradients) {
    WeftOps weft = weft(tf, op);
    List<Operand<?>> sums = weft.groupedAllreduce(whole(tf, op, gradients), NAME, ReduceOp.SUM);
    List<Operand<TInt64>> rows = new ArrayList<>();
    for (int i = 0; i < sums.size(); i++) {
      rows.add(rows(tf, op.input(i)));
    }
    // One row per rank, one column per tensor.
    Operand<TInt64> mine = tf.expandDims(tf.stack(rows), tf.constant(0));
    Operand<TInt64> all = weft.allgather(mine, "rows");
    Operand<TInt64> before =
        tf.gather(
            tf.math.cumsum(all, tf.constant(0), Cumsum.exclusive(true)),
            weft.rank(),
            tf.constant(0));
    List<Operand<?>> inputs = new ArrayList<>();
    for (int i = 0; i < sums.size(); i++) {
      Operand<TInt64> first = tf.gather(before, tf.constant(i), tf.constant(0));
      Operand<TInt64> end = tf.math.add(first, rows.get(i));
      Operand<TInt64> range = tf.range(first, end, tf.constant(1L));
      inputs.add(tf.gather(sums.get(i), range, tf.constant(0)));
    }
    return inputs;
  }

  private static Operand<TInt64> rows(Ops tf, Output<?> tensor) {
    return tf.gather(tf.shape(tensor, TInt64.class), tf.constant(0), tf.constant(0));
  }

  /// Concatenates the gradients of all ranks' parts, because a rank's input adds to each of them.
  private static List<Operand<?>> reduceScatter(
      Ops tf, GraphOperation op, List<Output<?>> gradients) {
    WeftOps weft = weft(tf, op);
    List<Operand<?>> inputs = weft.groupedAllgather(whole(tf, op, gradients), NAME);
    return linear(op) == ReduceOp.SUM
        ? inputs
        : inputs.stream().<Operand<?>>map(sum -> weft.mean(sum)).toList();
  }

  /// Returns each received row's gradient to the rank that sent the row.
  private static List<Operand<?>> alltoall(Ops tf, GraphOperation op, List<Output<?>> gradients) {
    Operand<TInt64> received = op.<TInt64>output(1);
    Operand<?> back = weft(tf, op).alltoall(gradients.getFirst(), received, NAME).output();
    return List.of(back, tf.zerosLike(op.input(1)));
  }

  /// Returns the gradients of all outputs, with zeros for outputs that the loss does not depend on.
  private static List<Operand<?>> whole(Ops tf, GraphOperation op, List<Output<?>> gradients) {
    List<Operand<?>> all = new ArrayList<>();
    for (int i = 0; i < gradients.size(); i++) {
      Output<?> gradient = gradients.get(i);
      all.add(gradient.isClosed() ? tf.zerosLike(op.output(i)) : gradient);
    }
    return all;
  }

  private static ReduceOp linear(GraphOperation op) {
    ReduceOp reduction = ReduceOp.valueOf(op.attributes().getAttrString(OpAttributes.OP));
    if (reduction != ReduceOp.SUM && reduction != ReduceOp.AVERAGE) {
      throw new IllegalArgumentException(
          "'"
              + op.name()
              + "' computes "
              + reduction
              + ", which has no gradient here; only SUM and AVERAGE have");
    }
    return reduction;
  }

  private static WeftOps weft(Ops tf, GraphOperation op) {
    int communicator = Math.toIntExact(op.attributes().getAttrInt(OpAttributes.COMMUNICATOR));
    return new WeftOps(tf.scope(), communicator);
  }
}
