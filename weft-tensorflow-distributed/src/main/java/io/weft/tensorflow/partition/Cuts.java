// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.DataTypes;
import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import io.weft.tensorflow.placement.GraphPlacement;
import io.weft.tensorflow.placement.OpTypes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;
import org.tensorflow.proto.TensorShapeProto;

/// All transfers of a graph, in the order in which its nodes first need them.
final class Cuts {

  private static final String PREFIX = "transfer";

  private final GraphIndex graph;
  private final OpTypes types;
  private final GraphPlacement placement;
  private final String prefix;
  private final Map<Crossing, DataType> found = new LinkedHashMap<>();
  private final Map<Crossing, List<String>> users = new HashMap<>();

  private Cuts(GraphIndex graph, OpTypes types, GraphPlacement placement) {
    this.graph = graph;
    this.types = types;
    this.placement = placement;
    this.prefix = unusedPrefix();
  }

  /// Throws `IllegalArgumentException`, which names the nodes, for an edge that cannot be cut.
  static Map<Crossing, TransferNodes> of(
      GraphDef definition, GraphIndex graph, OpTypes types, GraphPlacement placement) {
    Cuts cuts = new Cuts(graph, types, placement);
    cuts.find();
    return cuts.transfers(definition);
  }

  private void find() {
    ControlFlow flow = new ControlFlow(graph);
    for (NodeDef node : graph.nodes()) {
      Crossing.of(node.getName(), graph, placement)
          .forEach(
              (input, crossing) -> {
                String obstacle = flow.obstacle(input.node(), node.getName());
                if (!obstacle.isEmpty()) {
                  throw refused(input, node, obstacle);
                }
                users.computeIfAbsent(crossing, key -> new ArrayList<>()).add(node.getName());
                if (!found.containsKey(crossing)) {
                  found.put(crossing, type(input, node));
                }
              });
    }
  }

  private DataType type(NodeInput input, NodeDef node) {
    if (input.control()) {
      return DataType.DT_INT32;
    }
    List<DataType> outputs = types.outputs(graph.node(input.node()));
    if (input.port() >= outputs.size()) {
      throw new IllegalArgumentException(
          "node '%s' has the input '%s', but '%s' has %d outputs"
              .formatted(node.getName(), input, input.node(), outputs.size()));
    }
    DataType type = DataTypes.value(outputs.get(input.port()));
    return switch (type) {
      case DT_RESOURCE, DT_VARIANT ->
          throw refused(input, node, "a " + type + " stays on its task");
      case DT_STRING -> throw refused(input, node, "strings cannot be transferred");
      default -> type;
    };
  }

  private Map<Crossing, TransferNodes> transfers(GraphDef definition) {
    Map<NodeInput, TensorShapeProto> shapes =
        OutputShapes.of(
            definition,
            graph,
            found.keySet().stream()
                .filter(crossing -> !crossing.control())
                .map(crossing -> crossing.inputs().getFirst())
                .distinct()
                .toList());
    Levels levels = new Levels(graph, placement);
    List<Crossing> crossings = List.copyOf(found.keySet());
    List<Transfer> transfers =
        IntStream.range(0, crossings.size())
            .mapToObj(number -> transfer(number, crossings.get(number), shapes, levels))
            .toList();
    Map<Crossing, TransferNodes> all = new LinkedHashMap<>();
    int[] groups = new int[transfers.size()];
    for (ReceiveGroup group : ReceiveGroup.of(transfers)) {
      group.transfers().forEach(transfer -> groups[transfer.number()] = group.number());
    }
    for (Transfer transfer : transfers) {
      Crossing crossing = crossings.get(transfer.number());
      String names = prefix + "/" + transfer.number();
      all.put(
          crossing,
          new TransferNodes(
              transfer, crossing, names, groups[transfer.number()], urgency(crossing, levels)));
    }
    return all;
  }

  /// Returns the longest path from the end of the transfer to the end of the graph.
  private int urgency(Crossing crossing, Levels levels) {
    return users.getOrDefault(crossing, List.of()).stream()
        .mapToInt(levels::remaining)
        .max()
        .orElse(0);
  }

  private Transfer transfer(
      int number, Crossing crossing, Map<NodeInput, TensorShapeProto> shapes, Levels levels) {
    return new Transfer(
        number,
        crossing.source(),
        crossing.destination(),
        crossing.tensor(),
        found.getOrDefault(crossing, DataType.DT_INT32),
        shapes.getOrDefault(crossing.inputs().getFirst(), Attributes.EMPTY),
        crossing.inputs().stream().mapToInt(input -> levels.of(input.node())).max().orElse(0),
        prefix + "/" + number);
  }

  private IllegalArgumentException refused(NodeInput input, NodeDef node, String why) {
    return new IllegalArgumentException(
        "the edge from '%s' on %s to '%s' on %s cannot be cut: %s; put both nodes on one task"
            .formatted(
                input,
                placement.taskOf(input.node()),
                node.getName(),
                placement.taskOf(node.getName()),
                why));
  }

  private String unusedPrefix() {
    String unused = PREFIX;
    for (int i = 1; begins(unused + "/"); i++) {
      unused = PREFIX + "_" + i;
    }
    return unused;
  }

  private boolean begins(String text) {
    return graph.nodes().stream().anyMatch(node -> node.getName().startsWith(text));
  }
}
