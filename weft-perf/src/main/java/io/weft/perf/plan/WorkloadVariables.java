// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import io.weft.perf.gradients.GradientModel.ModelVariable;
import io.weft.workloads.model.Model;
import io.weft.workloads.model.SparseTable;
import io.weft.workloads.model.Workload;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.tensorflow.GraphOperation;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;

/// The variables of a workload's network, with the work of their layers.
public final class WorkloadVariables {

  /// The work of a variable's ops apart from multiplications: about 25 us, in which a processor
  /// makes half a million multiplications.
  private static final double OPS = 500_000;

  private static final int KEY_BYTES = Long.BYTES;

  private WorkloadVariables() {}

  /// Returns the variables in the order of the forward pass. A table has the rows of a batch, each
  /// of them once at most.
  ///
  /// @param batch examples of a rank in a step
  public static List<ModelVariable> of(Workload workload, int batch) {
    Objects.requireNonNull(workload, "workload");
    try (Model model = Model.of(workload, workload.features(), 1, 1)) {
      Map<String, Long> positions = positions(model.graph().operations());
      Set<String> tables =
          model.tables().stream()
              .map(SparseTable::variable)
              .map(each -> each.op().name())
              .collect(Collectors.toSet());
      List<ModelVariable> variables = new ArrayList<>();
      for (Variable<TFloat32> variable : model.variables()) {
        String name = variable.op().name();
        Shape shape = variable.asOutput().shape();
        variables.add(
            tables.contains(name)
                ? table(name, shape, batch)
                : ModelVariable.dense(
                    name,
                    shape.size(),
                    work(shape.size(), positions.getOrDefault(name + "_read", 1L), batch)));
      }
      return variables;
    }
  }

  /// Returns the work of a variable in a step.
  ///
  /// @param uses multiplications of each element for one example
  public static double work(long elements, long uses, int batch) {
    return 1.0 * elements * uses * batch + OPS;
  }

  private static ModelVariable table(String name, Shape shape, int batch) {
    long rows = Math.min(batch, shape.get(0));
    long width = shape.get(1);
    return new ModelVariable(
        name, shape.size(), work(width, 1, batch), rows * (width * Float.BYTES + KEY_BYTES));
  }

  /// Returns the number of positions of each convolution, by the name of its weights.
  private static Map<String, Long> positions(Iterator<GraphOperation> operations) {
    Map<String, Long> positions = new HashMap<>();
    while (operations.hasNext()) {
      GraphOperation operation = operations.next();
      if (operation.type().equals("Conv2D")) {
        Shape images = operation.output(0).shape();
        positions.put(operation.input(1).op().name(), images.get(1) * images.get(2));
      }
    }
    return positions;
  }
}
