// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.cluster.DeviceName;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.graph.FunctionCalls;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.tensorflow.proto.FunctionDef;
import org.tensorflow.proto.FunctionDefLibrary;
import org.tensorflow.proto.NodeDef;

/// The functions of a graph over several tasks. A function runs on the task of its caller, so its
/// nodes must not name another task.
final class LocalFunctions {

  private final FunctionDefLibrary library;
  private final FunctionCalls calls;

  LocalFunctions(FunctionDefLibrary library) {
    this.library = library;
    this.calls = new FunctionCalls(library);
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

  /// Throws `IllegalArgumentException`, which names node and function, if a function that `node`
  /// calls requires a task other than the node's.
  void requireLocal(NodeDef node, Task task) {
    Set<String> seen = new HashSet<>();
    Deque<NodeDef> open = new ArrayDeque<>(Set.of(node));
    while (!open.isEmpty()) {
      for (String name : FunctionCalls.called(open.remove())) {
        Optional<FunctionDef> function = calls.function(name);
        if (function.isEmpty() || !seen.add(name)) {
          continue;
        }
        for (NodeDef inner : function.get().getNodeDefList()) {
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
}
