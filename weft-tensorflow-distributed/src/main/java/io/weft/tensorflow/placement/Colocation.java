// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

import io.weft.tensorflow.cluster.DeviceName;
import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.NodeDef;

/// The sets of nodes that must run on one task. A node that consumes a resource, or a reference as
/// a reference, runs on the task of its producer. A node whose attribute `_class` contains `loc:@x`
/// runs on the task of `x`.
final class Colocation {

  private static final String CLASS = "_class";
  private static final String PREFIX = "loc:@";

  private final GraphIndex graph;
  private final Map<String, String> parents = new HashMap<>();

  Colocation(GraphIndex graph, OpTypes types) {
    this.graph = graph;
    for (NodeDef node : graph.nodes()) {
      for (String group : groups(node)) {
        join(node, group, "_class of node '" + node.getName() + "' names '" + group + "'");
      }
      followHandles(node, types);
    }
  }

  /// Returns the sets, each in the graph's order, ordered by their first nodes.
  Collection<List<NodeDef>> sets() {
    Map<String, List<NodeDef>> sets = new LinkedHashMap<>();
    for (NodeDef node : graph.nodes()) {
      sets.computeIfAbsent(root(node.getName()), first -> new ArrayList<>()).add(node);
    }
    return sets.values();
  }

  /// Returns the common task device of a set's nodes. Throws `IllegalArgumentException`, which
  /// names two nodes, if the nodes' devices conflict.
  static DeviceName joint(List<NodeDef> set) {
    DeviceName joint = DeviceName.ANY;
    for (NodeDef node : set) {
      DeviceName said = task(node);
      if (differ(said, joint)) {
        NodeDef first =
            set.stream().filter(one -> differ(said, task(one))).findFirst().orElseThrow();
        throw conflict(first, node, "variables, resources and _class join them");
      }
      joint = said.within(joint);
    }
    return joint;
  }

  /// Returns the task part of the node's device. Throws like `DeviceName.parse`, and names the
  /// node.
  static DeviceName task(NodeDef node) {
    try {
      DeviceName name = DeviceName.parse(node.getDevice());
      DeviceName local = name.local();
      return local.equals(DeviceName.ANY)
          ? name
          : new DeviceName(
              name.job(),
              name.replica(),
              name.task(),
              DeviceName.ANY.type(),
              DeviceName.ANY.index());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("node '" + node.getName() + "': " + e.getMessage(), e);
    }
  }

  /// Returns the names in `_class` without their prefix.
  static List<String> groups(NodeDef node) {
    return node
        .getAttrOrDefault(CLASS, org.tensorflow.proto.AttrValue.getDefaultInstance())
        .getList()
        .getSList()
        .stream()
        .map(bytes -> bytes.toStringUtf8())
        .filter(text -> text.startsWith(PREFIX))
        .map(text -> text.substring(PREFIX.length()))
        .toList();
  }

  private void followHandles(NodeDef node, OpTypes types) {
    List<NodeInput> inputs = graph.inputs(node.getName());
    List<DataType> wanted = types.inputs(node);
    for (int i = 0; i < inputs.size() && i < wanted.size(); i++) {
      if (OpTypes.handle(wanted.get(i)) && !inputs.get(i).control()) {
        String source = inputs.get(i).node();
        join(
            node,
            source,
            "node '%s' directly uses the variable or resource of '%s'"
                .formatted(node.getName(), source));
      }
    }
  }

  private void join(NodeDef node, String other, String why) {
    if (graph.contains(other)) {
      NodeDef there = graph.node(other);
      if (differ(task(node), task(there))) {
        throw conflict(there, node, why);
      }
    }
    parents.put(root(node.getName()), root(other));
  }

  private String root(String name) {
    String at = name;
    String parent = parents.get(at);
    while (parent != null && !parent.equals(at)) {
      at = parent;
      parent = parents.get(at);
    }
    parents.put(name, at);
    return at;
  }

  private static boolean differ(DeviceName one, DeviceName other) {
    return !one.within(other).equals(other.within(one));
  }

  private static IllegalArgumentException conflict(NodeDef one, NodeDef other, String why) {
    return new IllegalArgumentException(
        "node '%s' is on %s and node '%s' on %s, but must share a task: %s; give both one device"
            .formatted(one.getName(), task(one), other.getName(), task(other), why));
  }
}
