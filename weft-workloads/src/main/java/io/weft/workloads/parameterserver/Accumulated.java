// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import java.util.ArrayList;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.GraphOperationBuilder;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.Output;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.Scope;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.proto.DataType;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;

/// Accumulators on the servers that combine gradients. Each worker adds its gradients, marked with
/// its step. A take waits until enough gradients have arrived. Gradients for a completed step are
/// dropped, so that no step waits for slow workers [Chen et al. 2016, synchronous SGD with backup
/// workers].
final class Accumulated {

  /// The placeholder of the worker's step.
  static final String STEP = "local_step";

  private final Graph graph;
  private final Operand<TInt64> step;
  private final Operand<TInt32> counted;
  private final List<Operation> put = new ArrayList<>();

  /// @param counted the number of gradients for which a step waits
  Accumulated(Graph graph, int counted) {
    Ops tf = Ops.create(graph);
    this.graph = graph;
    this.step = tf.withName(STEP).placeholder(TInt64.class, Placeholder.shape(Shape.scalar()));
    this.counted = tf.constant(counted);
  }

  /// Returns the mean of a step's gradients of a variable, on the variable's server.
  Output<TFloat32> mean(Output<TFloat32> variable, Output<TFloat32> gradient) {
    String name = variable.op().name();
    String[] near = {"loc:@" + name};
    GraphOperation all =
        accumulator(graph.baseScope(), name, "MEAN", variable.shape())
            .setAttr("_class", near)
            .build();
    return taken(name, all, gradient);
  }

  /// Returns the sum of other values that the workers of a step add, on a server.
  ///
  /// @param server ops that are placed on the server's device
  Output<TFloat32> sum(String name, Ops server, Operand<TFloat32> values) {
    Shape shape = values.asOutput().shape();
    return taken(name, accumulator(server.scope(), name, "SUM", shape).build(), values.asOutput());
  }

  /// Returns the ops that add all values of a worker's step.
  List<Operation> put() {
    return List.copyOf(put);
  }

  private GraphOperationBuilder accumulator(
      Scope scope, String name, String reduction, Shape shape) {
    return graph
        .opBuilder("ConditionalAccumulator", name + "_gradients", scope)
        .setAttr("dtype", DataType.DT_FLOAT)
        .setAttr("shape", shape)
        .setAttr("reduction_type", reduction);
  }

  private Output<TFloat32> taken(String name, GraphOperation all, Output<TFloat32> value) {
    put.add(
        graph
            .opBuilder("AccumulatorApplyGradient", name + "_put", graph.baseScope())
            .addInput(all.output(0))
            .addInput(step.asOutput())
            .addInput(value)
            .build());
    return graph
        .opBuilder("AccumulatorTakeGradient", name + "_taken", graph.baseScope())
        .addInput(all.output(0))
        .addInput(counted.asOutput())
        .setAttr("dtype", DataType.DT_FLOAT)
        .build()
        .output(0);
  }
}
