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

/// The longest path to the end of each node and the longest path from its start to the end of the
/// graph, where each computing op and each transfer between tasks counts as one. A node that
/// depends on a transfer has a higher level than the transfer. A loop counts as one op.
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

  private final GraphIndex graph;
  private final GraphPlacement placement;
  private final Map<String, Integer> levels = new HashMap<>();
  private final Map<String, Integer> remaining = new HashMap<>();

  /// Throws `IllegalArgumentException`, which names the nodes, for a cycle that is not a loop.
  Levels(GraphIndex graph, GraphPlacement placement) {
    this.graph = graph;
    this.placement = placement;
    List<List<String>> components = Components.inOrder(graph);
    components.forEach(this::addLevel);
    components.reversed().forEach(this::addRemaining);
  }

  private void addLevel(List<String> component) {
    requireLoop(component);
    Set<String> members = new HashSet<>(component);
    int start = 0;
    for (String node : component) {
      for (NodeInput input : graph.inputs(node)) {
        if (!members.contains(input.node())) {
          start = Math.max(start, of(input.node()) + distance(input, node));
        }
      }
    }
    int end = start + cost(component);
    component.forEach(node -> levels.put(node, end));
  }

  /// Adds the path behind the component, which the components that depend on it have noted.
  private void addRemaining(List<String> component) {
    Set<String> members = new HashSet<>(component);
    int path = component.stream().mapToInt(this::remaining).max().orElse(0) + cost(component);
    for (String node : component) {
      remaining.put(node, path);
      for (NodeInput input : graph.inputs(node)) {
        if (!members.contains(input.node())) {
          remaining.merge(input.node(), path + distance(input, node), Math::max);
        }
      }
    }
  }

  private int distance(NodeInput input, String node) {
    return placement.taskOf(input.node()).equals(placement.taskOf(node)) ? 0 : 1;
  }

  private int cost(List<String> component) {
    return component.stream().allMatch(node -> FREE.contains(graph.node(node).getOp())) ? 0 : 1;
  }

  /// Returns the earliest completion of a node: the longest path to its end.
  int of(String node) {
    return levels.getOrDefault(node, 0);
  }

  /// Returns the longest path from the start of a node to the end of the graph.
  int remaining(String node) {
    return remaining.getOrDefault(node, 0);
  }

  private void requireLoop(List<String> component) {
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
