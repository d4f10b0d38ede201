// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

import io.weft.tensorflow.DataTypes;
import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// The initializers of a graph's variables, and nodes that count the initialized variables.
///
/// @param graph the given graph with added nodes that count the initialized variables of each
///   device
/// @param targets names of the nodes that together initialize all variables when run once
/// @param counts fetches, an INT32 scalar each, whose sum is `variables` when all have a value
/// @param variables the number of variables
public record Initializers(
    GraphDef graph, List<String> targets, List<String> counts, int variables) {

  /// TensorFlow Java's name of the node that runs the operations built in `withInitScope`.
  public static final String TENSORFLOW_JAVA = "Init";

  /// The name of that node in a graph of several tasks.
  public static final String PORTABLE = "weft/initialize";

  private static final String COUNTS = "weft/initialized";
  private static final Set<String> VARIABLES = Set.of("Variable", "VariableV2", "VarHandleOp");
  private static final Set<String> ASSIGNMENTS = Set.of("Assign", "AssignVariableOp");

  /// Returns the graph with its node `Init` renamed. TensorFlow Java would run a node of that name
  /// before the first step, on each task and for each session.
  public static GraphDef portable(GraphDef graph, String name) {
    GraphIndex index = new GraphIndex(graph);
    if (!index.contains(TENSORFLOW_JAVA)) {
      return graph;
    }
    // Omits the inputs that other inputs already wait for.
    Set<String> implied = new HashSet<>();
    index
        .inputs(TENSORFLOW_JAVA)
        .forEach(input -> index.inputs(input.node()).forEach(own -> implied.add(own.node())));
    GraphDef.Builder portable = graph.toBuilder();
    for (NodeDef.Builder node : portable.getNodeBuilderList()) {
      if (node.getName().equals(TENSORFLOW_JAVA)) {
        List<String> inputs =
            index.inputs(TENSORFLOW_JAVA).stream()
                .filter(input -> !implied.contains(input.node()))
                .map(NodeInput::toString)
                .toList();
        node.setName(name).clearInput().addAllInput(inputs);
      } else if (node.getInputList().contains("^" + TENSORFLOW_JAVA)) {
        for (int i = 0; i < node.getInputCount(); i++) {
          if (node.getInput(i).equals("^" + TENSORFLOW_JAVA)) {
            node.setInput(i, "^" + name);
          }
        }
      }
    }
    return portable.build();
  }

  /// Finds the initializers of a portable graph: the former node `Init`, and for each variable that
  /// it does not reach the one assignment whose value depends on no variable and no placeholder.
  /// Throws `IllegalArgumentException`, which names the variable, if a variable has none or
  /// several.
  public static Initializers of(GraphDef graph) {
    GraphIndex index = new GraphIndex(graph);
    List<NodeDef> variables =
        index.nodes().stream().filter(node -> VARIABLES.contains(node.getOp())).toList();
    Set<String> targets = new LinkedHashSet<>();
    Set<String> reached = Set.of();
    if (index.contains(PORTABLE)) {
      targets.add(PORTABLE);
      reached = needed(index, List.of(PORTABLE));
    }
    Map<String, List<String>> assignments = new LinkedHashMap<>();
    for (NodeDef node : index.nodes()) {
      if (ASSIGNMENTS.contains(node.getOp())) {
        String variable = index.inputs(node.getName()).getFirst().node();
        if (reached.contains(node.getName())) {
          assignments.put(variable, List.of(PORTABLE));
        } else if (constant(index, node)
            && !assignments.getOrDefault(variable, List.of()).contains(PORTABLE)) {
          List<String> more = new ArrayList<>(assignments.getOrDefault(variable, List.of()));
          more.add(node.getName());
          assignments.put(variable, more);
        }
      }
    }
    for (NodeDef variable : variables) {
      List<String> own = assignments.getOrDefault(variable.getName(), List.of());
      if (own.size() != 1) {
        throw new IllegalArgumentException(
            ("variable '%s' has %s; assign it once in tf.withInitScope(), or use WeftSession.open"
                    + " and run its initializer")
                .formatted(
                    variable.getName(), own.isEmpty() ? "no initializer" : "initializers " + own));
      }
      targets.add(own.getFirst());
    }
    return counted(graph, variables, List.copyOf(targets));
  }

  /// Returns a variable without a task in its device, if any. Each task has its own such variable,
  /// so one task cannot initialize all.
  public Optional<String> unplaced() {
    return graph.getNodeList().stream()
        .filter(node -> VARIABLES.contains(node.getOp()) && !node.getDevice().contains("/job:"))
        .map(NodeDef::getName)
        .findFirst();
  }

  private static boolean constant(GraphIndex index, NodeDef assignment) {
    List<NodeInput> inputs = index.inputs(assignment.getName());
    List<String> values = inputs.stream().skip(1).map(NodeInput::node).toList();
    Predicate<String> free =
        name -> {
          String op = index.node(name).getOp();
          return !VARIABLES.contains(op) && !op.startsWith("Placeholder");
        };
    return needed(index, values).stream().allMatch(free);
  }

  private static Set<String> needed(GraphIndex index, Collection<String> from) {
    Set<String> needed = new HashSet<>();
    Deque<String> open = new ArrayDeque<>(from);
    while (!open.isEmpty()) {
      String name = open.remove();
      if (needed.add(name)) {
        index.inputs(name).forEach(input -> open.add(input.node()));
      }
    }
    return needed;
  }

  /// Counts on each device, because neither references nor booleans can be transferred.
  private static Initializers counted(
      GraphDef graph, List<NodeDef> variables, List<String> targets) {
    GraphDef.Builder with = graph.toBuilder();
    Map<String, List<String>> terms = new LinkedHashMap<>();
    for (NodeDef variable : variables) {
      boolean handle = variable.getOp().equals("VarHandleOp");
      String name = COUNTS + "/" + variable.getName();
      NodeDef.Builder known =
          with.addNodeBuilder()
              .setName(name)
              .setOp(handle ? "VarIsInitializedOp" : "IsVariableInitialized")
              .setDevice(variable.getDevice())
              .addInput(variable.getName());
      if (!handle) {
        known.putAttr("dtype", type(DataTypes.value(variable.getAttrOrThrow("dtype").getType())));
      }
      with.addNodeBuilder()
          .setName(name + "/one")
          .setOp("Cast")
          .setDevice(variable.getDevice())
          .addInput(name)
          .putAttr("SrcT", type(DataType.DT_BOOL))
          .putAttr("DstT", type(DataType.DT_INT32))
          .putAttr("Truncate", AttrValue.newBuilder().setB(false).build());
      terms.computeIfAbsent(variable.getDevice(), _ -> new ArrayList<>()).add(name + "/one");
    }
    List<String> counts = new ArrayList<>();
    terms.forEach(
        (device, ones) -> {
          String name = COUNTS + "_" + counts.size();
          with.addNodeBuilder()
              .setName(name)
              .setOp("AddN")
              .setDevice(device)
              .addAllInput(ones)
              .putAttr("T", type(DataType.DT_INT32))
              .putAttr("N", AttrValue.newBuilder().setI(ones.size()).build());
          counts.add(name + ":0");
        });
    return new Initializers(with.build(), targets, counts, variables.size());
  }

  private static AttrValue type(DataType type) {
    return AttrValue.newBuilder().setType(type).build();
  }
}
