// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tensorflow.proto.NodeDef;

/// The strongly connected components of a graph [TARJAN72 §4]: single nodes, and cycles of loops.
/// Iterative, because graphs are deep. The names are the paper's: `number` and `lowlink` of a node,
/// and the stack of nodes whose component is still unknown.
final class Components {

  private record Visit(String node, int[] next) {}

  private final GraphIndex graph;
  private final Map<String, Integer> number = new HashMap<>();
  private final Map<String, Integer> lowlink = new HashMap<>();
  private final Deque<String> stack = new ArrayDeque<>();
  private final Set<String> onStack = new HashSet<>();
  private final Deque<Visit> path = new ArrayDeque<>();
  private final List<List<String>> found = new ArrayList<>();

  private Components(GraphIndex graph) {
    this.graph = graph;
  }

  /// Returns the components, each after all components that its nodes depend on.
  static List<List<String>> inOrder(GraphIndex graph) {
    Components components = new Components(graph);
    for (NodeDef node : graph.nodes()) {
      if (!components.number.containsKey(node.getName())) {
        components.search(node.getName());
      }
    }
    return components.found;
  }

  private void search(String root) {
    enter(root);
    while (!path.isEmpty()) {
      Visit visit = path.getLast();
      List<NodeInput> inputs = graph.inputs(visit.node);
      if (visit.next[0] == inputs.size()) {
        path.removeLast();
        leave(visit.node);
        continue;
      }
      String input = inputs.get(visit.next[0]++).node();
      if (!number.containsKey(input)) {
        enter(input);
      } else if (onStack.contains(input)) {
        lowlink.merge(visit.node, of(number, input), Math::min);
      }
    }
  }

  private void enter(String node) {
    lowlink.put(node, number.size());
    number.put(node, number.size());
    stack.addLast(node);
    onStack.add(node);
    path.addLast(new Visit(node, new int[1]));
  }

  private void leave(String node) {
    if (of(lowlink, node) == of(number, node)) {
      List<String> component = new ArrayList<>();
      String member;
      do {
        member = stack.removeLast();
        onStack.remove(member);
        component.add(member);
      } while (!member.equals(node));
      found.add(component);
    }
    if (!path.isEmpty()) {
      lowlink.merge(path.getLast().node, of(lowlink, node), Math::min);
    }
  }

  private static int of(Map<String, Integer> numbers, String node) {
    return numbers.getOrDefault(node, -1);
  }
}
