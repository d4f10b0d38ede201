// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import io.weft.tensorflow.placement.GraphPlacement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/// The content of one transfer, equal for all edges that the transfer serves.
///
/// @param source the task that produces it
/// @param destination the task that uses it
/// @param inputs one tensor, or the control edges into one node from all nodes of the source. That
///   node waits for all of them in any case
record Crossing(Task source, Task destination, List<NodeInput> inputs) {

  /// Returns the inputs of a node from other tasks, in the node's order, each with its crossing.
  static Map<NodeInput, Crossing> of(String node, GraphIndex graph, GraphPlacement placement) {
    Task destination = placement.taskOf(node);
    Map<Task, SortedSet<String>> controls = new TreeMap<>();
    for (NodeInput input : graph.inputs(node)) {
      if (input.control()) {
        controls
            .computeIfAbsent(placement.taskOf(input.node()), task -> new TreeSet<>())
            .add(input.node());
      }
    }
    Map<Task, Crossing> signals = new TreeMap<>();
    controls.forEach(
        (source, names) ->
            signals.put(
                source,
                new Crossing(
                    source,
                    destination,
                    names.stream().map(name -> new NodeInput(name, NodeInput.CONTROL)).toList())));
    Map<NodeInput, Crossing> crossings = new LinkedHashMap<>();
    for (NodeInput input : graph.inputs(node)) {
      Task source = placement.taskOf(input.node());
      if (!source.equals(destination)) {
        crossings.put(
            input,
            input.control()
                ? Objects.requireNonNull(signals.get(source))
                : new Crossing(source, destination, List.of(input)));
      }
    }
    return crossings;
  }

  /// Hashes only the first input, because thousands may wait at one node and be looked up.
  @Override
  public int hashCode() {
    return Objects.hash(source, destination, inputs.getFirst(), inputs.size());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Crossing that
        && source.equals(that.source)
        && destination.equals(that.destination)
        && inputs.equals(that.inputs);
  }

  /// Returns whether it carries only control edges, and therefore no tensor of the graph.
  boolean control() {
    return inputs.getFirst().control();
  }

  /// Returns a human-readable description of its content.
  String tensor() {
    int more = inputs.size() - 1;
    return inputs.getFirst() + (more == 0 ? "" : " and " + more + " more");
  }
}
