// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.placement.GraphIndex;
import io.weft.tensorflow.placement.NodeInput;
import io.weft.tensorflow.placement.Placement;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/// What one transfer carries; equal for all edges that it serves.
///
/// @param source the task that produces it
/// @param destination the task that uses it
/// @param inputs one tensor; or the control edges into one node from all nodes of the source, which
///   wait for each other at that node in any case
record Crossing(Task source, Task destination, List<NodeInput> inputs) {

  /// The inputs of a node that come from other tasks, in its order, and with which crossing each
  /// comes.
  static Map<NodeInput, Crossing> of(String node, GraphIndex graph, Placement placement) {
    Task destination = placement.taskOf(node);
    Map<Task, SortedSet<String>> controls = new TreeMap<>();
    for (NodeInput input : graph.inputs(node)) {
      if (input.control()) {
        controls
            .computeIfAbsent(placement.taskOf(input.node()), task -> new TreeSet<>())
            .add(input.node());
      }
    }
    Map<NodeInput, Crossing> crossings = new LinkedHashMap<>();
    for (NodeInput input : graph.inputs(node)) {
      Task source = placement.taskOf(input.node());
      if (!source.equals(destination)) {
        List<NodeInput> together =
            input.control()
                ? controls.getOrDefault(source, Collections.emptySortedSet()).stream()
                    .map(name -> new NodeInput(name, NodeInput.CONTROL))
                    .toList()
                : List.of(input);
        crossings.put(input, new Crossing(source, destination, together));
      }
    }
    return crossings;
  }

  /// Whether it carries no tensor of the graph's.
  boolean control() {
    return inputs.getFirst().control();
  }

  /// For people: what travels.
  String tensor() {
    int more = inputs.size() - 1;
    return inputs.getFirst() + (more == 0 ? "" : " and " + more + " more");
  }
}
