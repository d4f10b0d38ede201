// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import java.util.HashSet;
import java.util.Set;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// A graph of TensorFlow Java's as several tasks can run it. The node that initializes all gets
/// another name: where TensorFlow Java finds its own, it runs it before the first step, on each
/// task and whoever asks for that step.
final class Portable {

  /// How TensorFlow Java names the node in a GraphDef.
  private static final String INITIALIZER = "Init";

  private Portable() {}

  /// The same graph, whose initializer is named `initializer`.
  static GraphDef graph(GraphDef graph, String initializer) {
    Set<String> assignments = new HashSet<>();
    for (NodeDef node : graph.getNodeList()) {
      if (node.getOp().equals("Assign")) {
        assignments.add("^" + node.getName());
      }
    }
    GraphDef.Builder portable = graph.toBuilder();
    for (int i = 0; i < portable.getNodeCount(); i++) {
      if (portable.getNode(i).getName().equals(INITIALIZER)) {
        portable.setNode(i, initializer(portable.getNode(i), initializer, assignments));
      }
    }
    return portable.build();
  }

  /// It need not wait for what its assignments wait for.
  private static NodeDef initializer(NodeDef node, String name, Set<String> assignments) {
    return node.toBuilder()
        .setName(name)
        .clearInput()
        .addAllInput(node.getInputList().stream().filter(assignments::contains).toList())
        .build();
  }
}
