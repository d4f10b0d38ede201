// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.graph;

import com.google.protobuf.ByteString;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// Removal of the nodes on which no wanted node depends.
public final class Pruning {

  private static final String CLASS = "_class";
  private static final String PREFIX = "loc:@";

  private Pruning() {}

  /// Returns these nodes and all their dependencies, in the order of `graph`. Removes classes that
  /// name omitted nodes, because TensorFlow would not find them. Throws `IllegalArgumentException`
  /// for a name that is not in the graph.
  public static GraphDef to(GraphDef graph, GraphIndex index, Collection<String> wanted) {
    Set<String> kept = new HashSet<>();
    Deque<String> open = new ArrayDeque<>();
    wanted.forEach(name -> open.add(index.node(NodeInput.parse(name).node()).getName()));
    while (!open.isEmpty()) {
      String name = open.remove();
      if (kept.add(name)) {
        index.inputs(name).forEach(input -> open.add(input.node()));
      }
    }
    GraphDef.Builder pruned = graph.toBuilder().clearNode();
    for (NodeDef node : graph.getNodeList()) {
      if (kept.contains(node.getName())) {
        pruned.addNode(known(node, kept));
      }
    }
    return pruned.build();
  }

  /// Returns the graph with only the functions that its nodes call.
  public static GraphDef withCalledFunctions(GraphDef graph) {
    if (graph.getLibrary().getFunctionCount() == 0) {
      return graph;
    }
    FunctionCalls library = new FunctionCalls(graph.getLibrary());
    return graph.toBuilder().setLibrary(library.calledBy(graph.getNodeList())).build();
  }

  /// Returns whether `node` calls, directly or indirectly, a function of the graph with such an op.
  public static boolean calls(GraphDef graph, NodeDef node, Predicate<String> type) {
    return graph.getLibrary().getFunctionCount() > 0
        && new FunctionCalls(graph.getLibrary())
            .calledBy(List.of(node)).getFunctionList().stream()
                .flatMap(function -> function.getNodeDefList().stream())
                .anyMatch(inner -> type.test(inner.getOp()));
  }

  private static NodeDef known(NodeDef node, Set<String> kept) {
    if (!node.containsAttr(CLASS)) {
      return node;
    }
    AttrValue.ListValue.Builder classes = AttrValue.ListValue.newBuilder();
    for (ByteString name : node.getAttrOrThrow(CLASS).getList().getSList()) {
      String text = name.toStringUtf8();
      if (!text.startsWith(PREFIX) || kept.contains(text.substring(PREFIX.length()))) {
        classes.addS(name);
      }
    }
    return classes.getSCount() == 0
        ? node.toBuilder().removeAttr(CLASS).build()
        : node.toBuilder().putAttr(CLASS, AttrValue.newBuilder().setList(classes).build()).build();
  }
}
