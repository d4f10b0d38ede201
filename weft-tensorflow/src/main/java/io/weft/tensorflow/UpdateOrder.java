// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.GraphOperationBuilder;
import org.tensorflow.Operation;
import org.tensorflow.op.Op;
import org.tensorflow.op.Scope;
import org.tensorflow.op.core.NoOp;

/// A fixed order of the parts of an optimizer's step. Adam, Adamax, Nadam and AdaGradDA of
/// TensorFlow Java decay their powers of beta, or count the step, without an edge to the weight
/// updates that read them. The value that an update reads then depends on timing, so ranks would
/// diverge. This class repeats those state changes with an edge from every weight update. The
/// original ops stay in the graph but do not run. (AdaGradDA counts before and after a step, here
/// twice after it.) Only callers that apply gradients without `DistributedOptimizer` need it.
public final class UpdateOrder {

  private UpdateOrder() {}

  /// Returns an op that runs the parts of `step` with its state changes last, or `step` itself if
  /// it has none. `step` must be a `NoOp` with a control edge from each part.
  public static Op stateLast(Graph graph, Op step) {
    List<Operation> updates = new ArrayList<>();
    List<GraphOperation> states = new ArrayList<>();
    GraphOperation group = graph.operationOrThrow(step.op().name());
    group.controlInputs().stream()
        .sorted(Comparator.comparing(GraphOperation::name))
        .forEach(
            part -> {
              if (changesState(part)) {
                states.add(part);
              } else {
                updates.add(part);
              }
            });
    if (states.isEmpty()) {
      return step;
    }
    Scope scope = graph.baseScope();
    List<Operation> last = new ArrayList<>(updates);
    for (GraphOperation state : states) {
      GraphOperationBuilder again =
          graph
              .opBuilder(state.type(), state.name() + "_last", scope)
              .addInput(state.input(0))
              .addInput(state.input(1));
      updates.forEach(again::addControlInput);
      last.add(again.build());
    }
    return NoOp.create(scope.withName(group.name() + "-ordered").withControlDependencyOps(last));
  }

  /// Returns whether `part` is `variable = variable * constant` or `variable += constant`.
  private static boolean changesState(GraphOperation part) {
    return switch (part.type()) {
      case "AssignAdd" -> isConstant(part.input(1).op());
      case "Assign" ->
          part.input(1).op() instanceof GraphOperation value
              && value.type().equals("Mul")
              && value.input(0).op().name().equals(part.input(0).op().name())
              && isConstant(value.input(1).op());
      default -> false;
    };
  }

  private static boolean isConstant(Operation op) {
    return op.type().equals("Const");
  }
}
