// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.graph;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// The nodes of a graph by name, in the order of its `GraphDef`, with their inputs.
public final class GraphIndex {

  private final Map<String, NodeDef> nodes = new LinkedHashMap<>();
  private final Map<String, List<NodeInput>> inputs = new LinkedHashMap<>();

  /// Throws `IllegalArgumentException` if two nodes have one name, or if an input is not a node of
  /// the graph.
  public GraphIndex(GraphDef graph) {
    for (NodeDef node : graph.getNodeList()) {
      if (nodes.put(node.getName(), node) != null) {
        throw new IllegalArgumentException("the graph has two nodes '" + node.getName() + "'");
      }
    }
    for (NodeDef node : graph.getNodeList()) {
      List<NodeInput> parsed = new ArrayList<>(node.getInputCount());
      for (String text : node.getInputList()) {
        NodeInput input = NodeInput.parse(text);
        if (!nodes.containsKey(input.node())) {
          throw new IllegalArgumentException(
              "node '%s' has the input '%s', which is not in the graph"
                  .formatted(node.getName(), text));
        }
        parsed.add(input);
      }
      inputs.put(node.getName(), List.copyOf(parsed));
    }
  }

  /// Returns all nodes, in order.
  public List<NodeDef> nodes() {
    return List.copyOf(nodes.values());
  }

  /// Returns whether the graph has a node of this name.
  public boolean contains(String node) {
    return nodes.containsKey(node);
  }

  /// Returns the node of this name. Throws `IllegalArgumentException` if it does not exist.
  public NodeDef node(String name) {
    NodeDef node = nodes.get(name);
    if (node == null) {
      throw new IllegalArgumentException("the graph has no node '" + name + "'");
    }
    return node;
  }

  /// Returns the inputs of a node, in order.
  public List<NodeInput> inputs(String node) {
    return inputs.getOrDefault(node, List.of());
  }
}
