// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import io.weft.tensorflow.placement.GraphPlacement;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The earliest completion of each node: the longest path to its end, where each computing op and
/// each transfer between tasks counts as one. A node that depends on a transfer has a higher level
/// than the transfer. A loop counts as one op.
final class Levels {

  /// The ops of negligible cost.
  private static final Set<String> FREE =
      Set.of(
          "Const",
          "EnsureShape",
          "Identity",
          "NoOp",
          "Placeholder",
          "PlaceholderWithDefault",
          "ReadVariableOp",
          "Reshape",
          "StopGradient",
          "VarHandleOp",
          "Variable",
          "VariableV2");

  private final Map<String, Integer> levels = new HashMap<>();

  /// Throws `IllegalArgumentException`, which names the nodes, for a cycle that is not a loop.
  Levels(GraphIndex graph, GraphPlacement placement) {
    for (List<String> component : Components.inOrder(graph)) {
      requireLoop(graph, component);
      Set<String> members = new HashSet<>(component);
      int start = 0;
      boolean free = true;
      for (String node : component) {
        free &= FREE.contains(graph.node(node).getOp());
        for (NodeInput input : graph.inputs(node)) {
          if (!members.contains(input.node())) {
            boolean cut = !placement.taskOf(input.node()).equals(placement.taskOf(node));
            start = Math.max(start, of(input.node()) + (cut ? 1 : 0));
          }
        }
      }
      for (String node : component) {
        levels.put(node, start + (free ? 0 : 1));
      }
    }
  }

  int of(String node) {
    return levels.getOrDefault(node, 0);
  }

  private static void requireLoop(GraphIndex graph, List<String> component) {
    boolean cycle =
        component.size() > 1
            || graph.inputs(component.getFirst()).stream()
                .anyMatch(input -> input.node().equals(component.getFirst()));
    if (cycle
        && component.stream().noneMatch(n -> graph.node(n).getOp().endsWith("NextIteration"))) {
      throw new IllegalArgumentException(
          "nodes " + component.reversed() + " depend on each other, and are not a loop");
    }
  }
}
