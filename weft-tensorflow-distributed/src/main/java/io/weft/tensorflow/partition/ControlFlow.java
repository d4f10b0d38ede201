// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.proto.NodeDef;

/// The nodes inside a loop or conditional of version 1, which may produce several values or none in
/// a step. Such a value cannot cross tasks, because a send runs at most once and the receiver could
/// wait forever. The inputs and outputs of a whole loop or conditional occur exactly once and may
/// cross.
final class ControlFlow {

  private record Depth(int loops, int branches) {
    private static final Depth NONE = new Depth(0, 0);

    Depth and(Depth other) {
      return new Depth(Math.max(loops, other.loops), Math.max(branches, other.branches));
    }
  }

  private final GraphIndex graph;
  private final Map<String, Depth> outputs = new HashMap<>();

  ControlFlow(GraphIndex graph) {
    this.graph = graph;
    follow();
  }

  /// Returns the reason why an edge from `source` to `node` must not be cut, or "" if it may be
  /// cut.
  String obstacle(String source, String node) {
    Depth from = outputs.getOrDefault(source, Depth.NONE);
    Depth to = outputs.getOrDefault(node, Depth.NONE);
    String target = graph.node(node).getOp();
    if (from.loops > 0) {
      return "'" + source + "' runs inside a loop (Enter to Exit)";
    }
    if (from.branches > 0) {
      return "'" + source + "' runs in one branch of a conditional (Switch to Merge)";
    }
    return to.loops > 0 && !enters(target)
        ? "'" + node + "' runs inside a loop (Enter to Exit)"
        : "";
  }

  /// Visits nodes after all their inputs, except inputs that close a loop.
  private void follow() {
    Map<String, Integer> waiting = new HashMap<>();
    Map<String, List<String>> consumers = new HashMap<>();
    Deque<String> ready = new ArrayDeque<>();
    for (NodeDef node : graph.nodes()) {
      int count = 0;
      for (NodeInput input : graph.inputs(node.getName())) {
        if (!closesLoop(input, node)) {
          consumers.computeIfAbsent(input.node(), key -> new ArrayList<>()).add(node.getName());
          count++;
        }
      }
      waiting.put(node.getName(), count);
      if (count == 0) {
        ready.add(node.getName());
      }
    }
    while (!ready.isEmpty()) {
      String name = ready.remove();
      outputs.put(name, output(graph.node(name)));
      for (String consumer : consumers.getOrDefault(name, List.of())) {
        if (waiting.merge(consumer, -1, Integer::sum) == 0) {
          ready.add(consumer);
        }
      }
    }
  }

  private Depth output(NodeDef node) {
    Depth in = Depth.NONE;
    for (NodeInput input : graph.inputs(node.getName())) {
      in = in.and(outputs.getOrDefault(input.node(), Depth.NONE));
    }
    return switch (plain(node.getOp())) {
      case "Enter" -> new Depth(in.loops + 1, in.branches);
      case "Exit" -> new Depth(Math.max(0, in.loops - 1), in.branches);
      case "Switch" -> switchesLoop(node) ? in : new Depth(in.loops, in.branches + 1);
      case "Merge" -> mergesLoop(node) ? in : new Depth(in.loops, Math.max(0, in.branches - 1));
      default -> in;
    };
  }

  private boolean closesLoop(NodeInput input, NodeDef node) {
    return plain(node.getOp()).equals("Merge")
        && plain(graph.node(input.node()).getOp()).equals("NextIteration");
  }

  private boolean switchesLoop(NodeDef node) {
    List<NodeInput> inputs = graph.inputs(node.getName());
    return inputs.size() > 1 && graph.node(inputs.get(1).node()).getOp().equals("LoopCond");
  }

  private boolean mergesLoop(NodeDef node) {
    return graph.inputs(node.getName()).stream()
        .anyMatch(input -> !input.control() && enters(graph.node(input.node()).getOp()));
  }

  private static boolean enters(String op) {
    return plain(op).equals("Enter");
  }

  /// Returns the value form of an op on references, or the op itself.
  private static String plain(String op) {
    return op.startsWith("Ref") ? op.substring("Ref".length()) : op;
  }
}
