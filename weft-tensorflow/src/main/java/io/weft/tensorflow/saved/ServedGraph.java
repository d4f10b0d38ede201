// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.saved;

import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import io.weft.tensorflow.graph.Pruning;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tensorflow.Graph;
import org.tensorflow.Signature;
import org.tensorflow.Signature.TensorDescription;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// The part of a graph that signatures need: the dependencies of their outputs, up to their inputs.
/// A node that is computed in training and fed in serving becomes a placeholder.
final class ServedGraph {

  private static final Set<String> FED = Set.of("Placeholder", "PlaceholderV2");
  private static final String PLACEHOLDER = "Placeholder";
  private static final String DEFAULTED = "PlaceholderWithDefault";

  private final Graph graph;
  private final GraphDef all;
  private final GraphIndex index;
  private final Set<String> computed = new HashSet<>();
  private final Map<String, TensorDescription> fed = new LinkedHashMap<>();
  private final List<String> wanted = new ArrayList<>();

  private ServedGraph(Graph graph) {
    this.graph = graph;
    this.all = graph.toGraphDef();
    this.index = new GraphIndex(all);
  }

  /// Returns the part of `graph` that these signatures need, without devices. Throws
  /// `IllegalArgumentException` if a tensor of a signature is not in the graph, or if an output
  /// depends on a Weft op, on a placeholder that is not an input, or on a hash table or iterator.
  static GraphDef of(Graph graph, List<Signature> signatures) {
    ServedGraph served = new ServedGraph(graph);
    signatures.forEach(served::add);
    return served.pruned();
  }

  private void add(Signature signature) {
    Map<String, TensorDescription> inputs = new HashMap<>();
    for (TensorDescription input : signature.getInputs().values()) {
      String node = nodeOf(signature, input);
      if (!index.node(node).getOp().equals(DEFAULTED)
          && graph.operationOrThrow(node).numOutputs() == 1) {
        inputs.put(node, input);
      }
      wanted.add(node);
    }
    // The output through which each node was reached, for messages.
    Map<String, String> reached = new LinkedHashMap<>();
    Deque<String> open = new ArrayDeque<>();
    signature
        .getOutputs()
        .forEach(
            (key, output) -> {
              String node = nodeOf(signature, output);
              wanted.add(node);
              if (reached.putIfAbsent(node, key) == null) {
                open.add(node);
              }
            });
    while (!open.isEmpty()) {
      String name = open.remove();
      if (inputs.containsKey(name)) {
        continue;
      }
      requireServed(signature, reached.getOrDefault(name, name), index.node(name));
      computed.add(name);
      for (NodeInput input : index.inputs(name)) {
        if (reached.putIfAbsent(input.node(), reached.getOrDefault(name, name)) == null) {
          open.add(input.node());
        }
      }
    }
    fed.putAll(inputs);
  }

  private String nodeOf(Signature signature, TensorDescription tensor) {
    String node = NodeInput.parse(tensor.name).node();
    if (!index.contains(node)) {
      throw new IllegalArgumentException(
          "signature '"
              + signature.key()
              + "' has the tensor '"
              + tensor.name
              + "', which the session's graph does not have");
    }
    return node;
  }

  private void requireServed(Signature signature, String output, NodeDef node) {
    String needs =
        "output '%s' of signature '%s' needs the node '%s', "
            .formatted(output, signature.key(), node.getName());
    String op = node.getOp();
    if (op.startsWith("Weft") || Pruning.calls(all, node, called -> called.startsWith("Weft"))) {
      throw new IllegalArgumentException(
          needs
              + "an op of Weft's ("
              + op
              + "), which runs only in a job; let the signature have a tensor that does not depend"
              + " on it, or make that node an input");
    }
    if (FED.contains(op)) {
      throw new IllegalArgumentException(
          needs
              + "a placeholder that is not an input of the signature, so no call could succeed;"
              + " add it as an input");
    }
    if (op.contains("HashTable") || op.startsWith("Iterator")) {
      throw new IllegalArgumentException(
          needs
              + "a "
              + op
              + ", whose contents are not variables and not exported; let the signature begin"
              + " after it");
    }
  }

  private GraphDef pruned() {
    GraphDef.Builder cut = all.toBuilder();
    for (NodeDef.Builder node : cut.getNodeBuilderList()) {
      node.clearDevice();
      TensorDescription input = computed.contains(node.getName()) ? null : fed.get(node.getName());
      if (input != null && !FED.contains(node.getOp())) {
        placeholder(node, input);
      }
    }
    GraphDef def = cut.build();
    return Pruning.withCalledFunctions(Pruning.to(def, new GraphIndex(def), wanted));
  }

  private static void placeholder(NodeDef.Builder node, TensorDescription input) {
    node.setOp(PLACEHOLDER)
        .clearInput()
        .clearAttr()
        .putAttr("dtype", AttrValue.newBuilder().setType(input.dataType).build())
        .putAttr(
            "shape", AttrValue.newBuilder().setShape(SavedSignatures.shape(input.shape)).build());
  }
}
