// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.graph;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.FunctionDef;
import org.tensorflow.proto.FunctionDefLibrary;
import org.tensorflow.proto.NodeDef;

/// The functions of a graph and the calls between them.
public final class FunctionCalls {

  private final FunctionDefLibrary library;
  private final Map<String, FunctionDef> functions = new HashMap<>();

  /// Indexes these functions by name.
  public FunctionCalls(FunctionDefLibrary library) {
    this.library = library;
    library.getFunctionList().forEach(f -> functions.put(f.getSignature().getName(), f));
  }

  /// Returns the function of this name; empty if the graph has none, as for a built-in op.
  public Optional<FunctionDef> function(String name) {
    return Optional.ofNullable(functions.get(name));
  }

  /// Returns the functions that these nodes call, directly or indirectly, and their gradients.
  public FunctionDefLibrary calledBy(Collection<NodeDef> nodes) {
    Map<String, String> gradients = new HashMap<>();
    library
        .getGradientList()
        .forEach(gradient -> gradients.put(gradient.getFunctionName(), gradient.getGradientFunc()));
    Set<String> kept = new HashSet<>();
    Deque<String> open = new ArrayDeque<>();
    nodes.forEach(node -> open.addAll(called(node)));
    while (!open.isEmpty()) {
      String name = open.remove();
      FunctionDef function = functions.get(name);
      if (function == null || !kept.add(name)) {
        continue;
      }
      function.getNodeDefList().forEach(inner -> open.addAll(called(inner)));
      if (gradients.containsKey(name)) {
        open.add(gradients.get(name));
      }
    }
    FunctionDefLibrary.Builder some = library.toBuilder().clearFunction().clearGradient();
    library.getFunctionList().stream()
        .filter(function -> kept.contains(function.getSignature().getName()))
        .forEach(some::addFunction);
    library.getGradientList().stream()
        .filter(gradient -> kept.contains(gradient.getFunctionName()))
        .forEach(some::addGradient);
    return some.build();
  }

  /// Returns the names of the op and of the functions that a node calls directly.
  public static Set<String> called(NodeDef node) {
    Set<String> names = new HashSet<>(Set.of(node.getOp()));
    for (AttrValue value : node.getAttrMap().values()) {
      if (value.hasFunc()) {
        names.add(value.getFunc().getName());
      }
      value.getList().getFuncList().forEach(function -> names.add(function.getName()));
    }
    return names;
  }
}
