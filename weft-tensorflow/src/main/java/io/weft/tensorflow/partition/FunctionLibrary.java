// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.cluster.DeviceName;
import io.weft.tensorflow.cluster.Task;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.FunctionDef;
import org.tensorflow.proto.FunctionDefLibrary;
import org.tensorflow.proto.NodeDef;

/// The functions of a graph. A function runs on the task of its caller, so its nodes must not name
/// another task.
final class FunctionLibrary {

  private final FunctionDefLibrary library;
  private final Map<String, FunctionDef> functions = new HashMap<>();

  FunctionLibrary(FunctionDefLibrary library) {
    this.library = library;
    library.getFunctionList().forEach(f -> functions.put(f.getSignature().getName(), f));
  }

  /// Returns all functions with device names that are local to a task.
  FunctionDefLibrary local() {
    FunctionDefLibrary.Builder all = library.toBuilder();
    for (FunctionDef.Builder function : all.getFunctionBuilderList()) {
      for (NodeDef.Builder node : function.getNodeDefBuilderList()) {
        node.setDevice(DeviceName.parse(node.getDevice()).local().toString());
      }
    }
    return all.build();
  }

  /// Returns the functions that these nodes call, directly or indirectly, and their gradients.
  FunctionDefLibrary calledBy(Collection<NodeDef> nodes) {
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

  /// Throws `IllegalArgumentException`, which names node and function, if a function that `node`
  /// calls requires a task other than the node's.
  void requireLocal(NodeDef node, Task task) {
    Set<String> seen = new HashSet<>();
    Deque<NodeDef> open = new ArrayDeque<>(Set.of(node));
    while (!open.isEmpty()) {
      for (String name : called(open.remove())) {
        FunctionDef function = functions.get(name);
        if (function == null || !seen.add(name)) {
          continue;
        }
        for (NodeDef inner : function.getNodeDefList()) {
          if (elsewhere(DeviceName.parse(inner.getDevice()), task)) {
            throw new IllegalArgumentException(
                ("node '%s' on %s calls the function '%s', whose node '%s' is on %s; a function"
                     + " runs on the task that calls it: leave its nodes without a task, or inline"
                     + " it")
                    .formatted(node.getName(), task, name, inner.getName(), inner.getDevice()));
          }
          open.add(inner);
        }
      }
    }
  }

  private static boolean elsewhere(DeviceName device, Task task) {
    DeviceName here = DeviceName.ANY.on(task);
    return !device.within(here).local().on(task).equals(device.within(here));
  }

  private static Set<String> called(NodeDef node) {
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
