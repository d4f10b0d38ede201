// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.saved;

import io.weft.collective.Communicator;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.DistributedOptimizer;
import io.weft.tensorflow.WeftOps;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.Signature;
import org.tensorflow.framework.optimizers.Adam;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.VarHandleOp;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;

/// A model of `y = slope x + offset + shift` with a distributed optimizer. `shift` is a resource
/// variable. The values are 3, 2 and 0.
final class Line implements AutoCloseable {

  final Graph graph = new Graph();
  final Ops tf = Ops.create(graph);
  final Placeholder<TFloat32> x;
  final Placeholder<TFloat32> labels;
  final Variable<TFloat32> slope;
  final Operand<TFloat32> y;
  final Operand<TFloat32> loss;
  final Operand<TFloat32> averageLoss;
  final Op train;
  final Op shifted;
  final Placeholder<TFloat32> assigned;
  final Operand<TFloat32> shift;
  final Session session;

  Line(Communicator communicator) {
    x = tf.withName("x").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
    labels = tf.withName("labels").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
    slope = tf.withName("slope").variable(Shape.scalar(), TFloat32.class);
    var offset = tf.withName("offset").variable(Shape.scalar(), TFloat32.class);
    VarHandleOp handle = tf.withName("shift").varHandleOp(TFloat32.class, Shape.scalar());
    shift = tf.readVariableOp(handle, TFloat32.class);
    Ops init = tf.withInitScope();
    init.assign(slope, init.constant(3f));
    init.assign(offset, init.constant(2f));
    assigned = tf.placeholder(TFloat32.class);
    shifted = tf.assignVariableOp(handle, assigned);
    y = tf.withName("y").math.add(tf.math.add(tf.math.mul(x, slope), offset), shift);
    loss = tf.math.mean(tf.math.square(tf.math.sub(y, labels)), tf.constant(0));
    averageLoss = new WeftOps(graph, communicator).allreduce(loss, "loss", ReduceOp.AVERAGE);
    train = new DistributedOptimizer(communicator, new Adam(graph, 0.1f)).minimize(loss);
    session = new Session(graph);
  }

  /// Initializes the variables.
  void initialize() {
    session.initialize();
    shift(0);
  }

  void shift(float to) {
    try (TFloat32 value = TFloat32.scalarOf(to)) {
      session.runner().feed(assigned, value).addTarget(shifted).run().close();
    }
  }

  Signature signature() {
    return Signature.builder().input("x", x).output("y", y).build();
  }

  float value(Operand<TFloat32> scalar) {
    try (Result result = session.runner().fetch(scalar).run()) {
      return ((TFloat32) result.get(0)).getFloat();
    }
  }

  @Override
  public void close() {
    session.close();
    graph.close();
  }
}
