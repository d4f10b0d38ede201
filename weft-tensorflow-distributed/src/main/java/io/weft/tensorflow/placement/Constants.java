// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

import io.weft.tensorflow.cluster.DeviceName;
import io.weft.tensorflow.graph.GraphIndex;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tensorflow.proto.NodeDef;

/// The constants of a graph, and nodes computed only from constants: learning rates, axes, initial
/// values. A constant that only one task uses is placed there; otherwise it would be sent in each
/// step.
final class Constants {

  /// The ops whose results are equal on every task and in every run.
  private static final Set<String> PURE =
      Set.of(
          "AddV2",
          "Cast",
          "Const",
          "Fill",
          "Identity",
          "Mul",
          "Pack",
          "Reshape",
          "StatelessRandomNormal",
          "StatelessRandomUniform",
          "StatelessTruncatedNormal");

  private final GraphIndex graph;
  private final Set<String> constants = new HashSet<>();
  private final Map<String, List<String>> consumers = new HashMap<>();

  Constants(GraphIndex graph) {
    this.graph = graph;
    for (NodeDef node : graph.nodes()) {
      graph.inputs(node.getName()).stream()
          .filter(input -> !input.control())
          .forEach(
              input ->
                  consumers
                      .computeIfAbsent(input.node(), key -> new ArrayList<>())
                      .add(node.getName()));
    }
    boolean more = true;
    while (more) {
      more = false;
      for (NodeDef node : graph.nodes()) {
        more |= isConstant(node) && constants.add(node.getName());
      }
    }
  }

  private boolean isConstant(NodeDef node) {
    return PURE.contains(node.getOp())
        && !Colocation.task(node).namesTask()
        && Colocation.groups(node).isEmpty()
        && graph.inputs(node.getName()).stream().allMatch(in -> constants.contains(in.node()));
  }

  /// Moves each constant whose users are all on one device to that device.
  void settle(Map<String, DeviceName> devices) {
    boolean more = true;
    while (more) {
      more = false;
      for (String name : constants) {
        Set<DeviceName> users = new HashSet<>();
        consumers
            .getOrDefault(name, List.of())
            .forEach(user -> users.add(devices.getOrDefault(user, DeviceName.ANY)));
        if (users.size() == 1) {
          DeviceName there = users.iterator().next();
          more |= !there.equals(devices.put(name, there));
        }
      }
    }
  }
}
