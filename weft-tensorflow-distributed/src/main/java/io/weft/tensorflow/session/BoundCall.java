// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.graph.NodeInput;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.partition.TransferOps;
import io.weft.tensorflow.transfer.FailureWatch;
import io.weft.tensorflow.transfer.FusedSends;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.OperationBuilder;
import org.tensorflow.Output;

/// A call of a part with its nodes, resolved once, because look-ups would dominate a small step.
///
/// @param feeds in the order of the call
/// @param fetches in the order of the call
/// @param target runs all targets; null if the call has none
/// @param isLight true if the call only reads variables and sends them
record BoundCall(
    List<Output<?>> feeds,
    List<Output<?>> fetches,
    @Nullable GraphOperation target,
    boolean isLight) {

  /// The ops that neither compute nor wait.
  private static final Set<String> LIGHT =
      Set.of(
          "Const",
          "Identity",
          "NoOp",
          "ReadVariableOp",
          "VarHandleOp",
          "Variable",
          "VariableV2",
          TransferOps.SEND);

  /// Resolves the nodes of a call and adds a node to the graph that depends on all its targets.
  ///
  /// @param prefix of all names
  /// @param number of the call in its part
  static BoundCall bind(Graph graph, String prefix, GraphCall call, int number) {
    boolean light = isLight(graph, prefix, call);
    return new BoundCall(
        call.feeds().stream().<Output<?>>map(name -> output(graph, prefix + name)).toList(),
        call.fetches().stream().<Output<?>>map(name -> output(graph, prefix + name)).toList(),
        target(graph, prefix, call, number, light),
        light);
  }

  private static Output<?> output(Graph graph, String name) {
    NodeInput tensor = NodeInput.parse(name);
    return operation(graph, tensor.node()).output(tensor.port());
  }

  private static GraphOperation operation(Graph graph, String name) {
    GraphOperation found = graph.operation(name);
    if (found == null) {
      throw new IllegalArgumentException("the part has no node '" + name + "'");
    }
    return found;
  }

  /// Returns one target for all, because TensorFlow looks up each run by all its target names. If
  /// the call is watched, the target also ends the watch after all other nodes.
  private static @Nullable GraphOperation target(
      Graph graph, String prefix, GraphCall call, int number, boolean light) {
    Optional<GraphOperation> watch =
        reached(graph, prefix, call).stream()
            .filter(op -> op.type().equals(TransferOps.WATCH))
            .findAny();
    StringBuilder free = new StringBuilder(prefix).append("call/").append(number);
    while (graph.operation(free.toString()) != null) {
      free.append('_');
    }
    List<GraphOperation> targets =
        call.targets().stream().map(name -> operation(graph, prefix + name)).toList();
    List<GraphOperation> run = light ? FusedSends.of(graph, free.toString(), targets) : targets;
    if (run.size() < 2 && watch.isEmpty()) {
      return run.isEmpty() ? null : run.getFirst();
    }
    OperationBuilder all =
        watch
            .map(begin -> FailureWatch.end(graph, free.toString(), begin))
            .orElseGet(() -> graph.opBuilder("NoOp", free.toString(), graph.baseScope()));
    run.forEach(all::addControlInput);
    if (watch.isPresent()) {
      call.fetches().forEach(name -> all.addControlInput(output(graph, prefix + name).op()));
    }
    all.build();
    return operation(graph, free.toString());
  }

  /// Returns whether the call is light, as a parameter server's part is in most steps. Waking other
  /// threads would cost more than the work of such a call.
  private static boolean isLight(Graph graph, String prefix, GraphCall call) {
    return reached(graph, prefix, call).stream().allMatch(op -> LIGHT.contains(op.type()));
  }

  /// Returns all operations that run, and those that only precede feeds.
  private static Set<GraphOperation> reached(Graph graph, String prefix, GraphCall call) {
    Map<String, GraphOperation> seen = new HashMap<>();
    Deque<String> open = new ArrayDeque<>();
    Stream.concat(call.targets().stream(), call.fetches().stream())
        .forEach(name -> open.add(prefix + NodeInput.parse(name).node()));
    while (!open.isEmpty()) {
      GraphOperation at = operation(graph, open.remove());
      if (seen.putIfAbsent(at.name(), at) == null) {
        at.inputs().forEach(input -> open.add(input.asOutput().op().name()));
        at.controlInputs().forEach(input -> open.add(input.name()));
      }
    }
    return Set.copyOf(seen.values());
  }
}
