// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.DeviceName;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import io.weft.tensorflow.graph.Pruning;
import io.weft.tensorflow.placement.GraphPlacement;
import io.weft.tensorflow.placement.OpTypes;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.tensorflow.proto.FunctionDefLibrary;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// A partitioner of graphs into one part per task. Equal graphs give byte-identical partitions. One
/// thread at a time.
///
/// An edge between tasks becomes a transfer: one for each tensor and destination, and one for all
/// control edges from a task into a node. References, resources and variants are never cut; their
/// users run on their task. Strings are not cut either, nor are edges that leave a loop or
/// conditional of version 1 before its end. [JIA17 §3.1]
public final class Partitioner {

  private final ClusterSpec cluster;
  private final Task defaultTask;
  private final OpTypes registered = OpTypes.registered();

  /// Creates a partitioner for graphs of the ops registered at present. Loads TensorFlow.
  ///
  /// @param cluster all tasks that devices may name
  /// @param defaultTask the task of nodes without a device; throws `IllegalArgumentException` if it
  ///   is not in the cluster
  public Partitioner(ClusterSpec cluster, Task defaultTask) {
    this.cluster = cluster;
    this.defaultTask = cluster.require(defaultTask);
  }

  /// Partitions the whole graph. Throws `IllegalArgumentException`, which names the nodes, if a
  /// device is not in the cluster, if nodes that must be together are not, or if an edge cannot be
  /// cut.
  public GraphPartition partition(GraphDef graph) {
    return partition(graph, graph.getNodeList().stream().map(NodeDef::getName).toList());
  }

  /// Partitions the part of the graph that these nodes or tensors need, the feeds, fetches and
  /// targets of later calls. Placement is that of the whole graph. Throws like `partition(graph)`.
  public GraphPartition partition(GraphDef graph, Collection<String> wanted) {
    GraphIndex all = new GraphIndex(graph);
    OpTypes types = registered.with(graph);
    GraphPlacement placement = new GraphPlacement(all, types, cluster, defaultTask);
    GraphDef pruned = Pruning.to(graph, all, wanted);
    GraphIndex index = new GraphIndex(pruned);
    Map<Crossing, TransferNodes> cuts = Cuts.of(pruned, index, types, placement);
    return new GraphPartition(index, placement, cuts, parts(pruned, index, placement, cuts));
  }

  private static SortedMap<Task, GraphDef> parts(
      GraphDef graph,
      GraphIndex index,
      GraphPlacement placement,
      Map<Crossing, TransferNodes> cuts) {
    LocalFunctions functions = new LocalFunctions(graph.getLibrary());
    FunctionDefLibrary library = functions.local();
    SortedMap<Task, GraphDef.Builder> parts = new TreeMap<>();
    for (NodeDef node : graph.getNodeList()) {
      Task task = placement.taskOf(node.getName());
      functions.requireLocal(node, task);
      parts
          .computeIfAbsent(
              task,
              key -> GraphDef.newBuilder().setVersions(graph.getVersions()).setLibrary(library))
          .addNode(local(node, index, placement, cuts));
    }
    for (TransferNodes nodes : cuts.values()) {
      Transfer transfer = nodes.transfer();
      parts.computeIfPresent(transfer.source(), (task, part) -> part.addAllNode(nodes.sending()));
      parts.computeIfPresent(
          transfer.destination(), (task, part) -> part.addAllNode(nodes.receiving()));
    }
    SortedMap<Task, GraphDef> built = new TreeMap<>();
    parts.forEach((task, part) -> built.put(task, part.build()));
    return built;
  }

  private static NodeDef local(
      NodeDef node, GraphIndex index, GraphPlacement placement, Map<Crossing, TransferNodes> cuts) {
    List<String> texts = node.getInputList();
    List<NodeInput> inputs = index.inputs(node.getName());
    Map<NodeInput, Crossing> crossings = Crossing.of(node.getName(), index, placement);
    NodeDef.Builder local = node.toBuilder().clearInput();
    Set<String> controls = new LinkedHashSet<>();
    for (int i = 0; i < texts.size(); i++) {
      Crossing crossing = crossings.get(inputs.get(i));
      TransferNodes transfer = crossing == null ? null : cuts.get(crossing);
      String input = transfer == null ? texts.get(i) : transfer.input();
      if (inputs.get(i).control()) {
        controls.add(input);
      } else {
        local.addInput(input);
      }
    }
    return local
        .addAllInput(controls)
        .setDevice(DeviceName.parse(node.getDevice()).local().toString())
        .build();
  }
}
