// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.workloads.model.Model;
import io.weft.workloads.model.SparseTable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;

/// The gradients of a model's variables. The gradient of a table is computed on the table's server:
/// the worker sends only the gradients of the rows that it looked up, and the server adds up the
/// gradients of equal rows.
final class Gradients {

  private final Graph graph;
  private final Ops tf;

  private Gradients(Graph graph) {
    this.graph = graph;
    this.tf = Ops.create(graph);
  }

  /// Returns the gradients by variable, in the order of the model's variables.
  static List<Output<TFloat32>> of(Model model, Operand<TFloat32> loss) {
    var gradients = new Gradients(model.graph());
    Map<String, SparseTable> tables = new HashMap<>();
    model.tables().forEach(table -> tables.put(table.variable().op().name(), table));
    List<Output<?>> inputs = new ArrayList<>();
    for (Variable<TFloat32> variable : model.variables()) {
      SparseTable table = tables.get(variable.op().name());
      inputs.add(table == null ? variable.asOutput() : table.rows());
    }
    Output<?>[] found =
        model.graph().addGradients(loss.asOutput(), inputs.toArray(Output<?>[]::new));
    List<Output<TFloat32>> all = new ArrayList<>();
    for (int i = 0; i < found.length; i++) {
      Output<TFloat32> gradient = found[i].expect(TFloat32.class);
      SparseTable table = tables.get(model.variables().get(i).op().name());
      all.add(table == null ? gradient : gradients.ofTable(table, gradient));
    }
    return all;
  }

  private Output<TFloat32> ofTable(SparseTable table, Output<TFloat32> rows) {
    String name = table.variable().op().name();
    int count = (int) table.variable().asOutput().shape().get(0);
    return graph
        .opBuilder("UnsortedSegmentSum", name + "_gradient", graph.baseScope())
        .addInput(rows)
        .addInput(table.ids().asOutput())
        .addInput(tf.constant(count).asOutput())
        .setAttr("_class", new String[] {"loc:@" + name})
        .build()
        .output(0);
  }
}
