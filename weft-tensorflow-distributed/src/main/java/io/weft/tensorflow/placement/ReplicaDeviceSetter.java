// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.DeviceName;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.graph.GraphIndex;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// The device function for parameter servers. It places variables, and nodes that change them, on
/// the tasks of one job, and other nodes on the worker. Existing devices are kept. Variables that
/// one op changes together, such as a weight and its momentum, share a task. A constant that only
/// one task uses is placed there.
///
/// @param servers the tasks that keep variables, at least one
/// @param worker the device of all other nodes
/// @param strategy the distribution of variables over the tasks
public record ReplicaDeviceSetter(
    List<Task> servers, DeviceName worker, VariablePlacement strategy) {

  private static final Set<String> VARIABLES =
      Set.of(
          "Variable",
          "VariableV2",
          "VarHandleOp",
          "AutoReloadVariable",
          "MutableHashTable",
          "MutableHashTableV2",
          "MutableHashTableOfTensors",
          "MutableHashTableOfTensorsV2",
          "MutableDenseHashTable",
          "MutableDenseHashTableV2",
          "ResourceConditionalAccumulator");

  /// Throws `IllegalArgumentException` for an empty list of servers.
  public ReplicaDeviceSetter {
    servers = List.copyOf(servers);
    if (servers.isEmpty()) {
      throw new IllegalArgumentException("no task to keep variables");
    }
  }

  /// Returns a setter with variables on job `ps` and other nodes on `worker`.
  public static ReplicaDeviceSetter of(
      ClusterSpec cluster, Task worker, VariablePlacement strategy) {
    return new ReplicaDeviceSetter(cluster.tasks("ps"), DeviceName.ANY.on(worker), strategy);
  }

  /// Returns `graph` with devices. A variable's task does not depend on the worker, so workers with
  /// equal graphs agree. Throws `IllegalArgumentException`, which names the nodes, if nodes that
  /// must be on one task are not, or which names the variable whose size is unknown.
  public GraphDef place(GraphDef graph) {
    GraphIndex index = new GraphIndex(graph);
    OpTypes types = OpTypes.registered().with(graph);
    Map<String, DeviceName> devices = new HashMap<>();
    List<Shard> unplaced = new ArrayList<>();
    Map<Task, Long> load = new HashMap<>();
    for (List<NodeDef> set : new Colocation(index, types).sets()) {
      DeviceName joint = Colocation.joint(set);
      boolean keeps = set.stream().anyMatch(node -> VARIABLES.contains(node.getOp()));
      if (keeps && joint.task().isEmpty() && servedBy(joint)) {
        unplaced.add(new Shard(set, bytes(set)));
      } else {
        // The worker's index does not apply to another job.
        DeviceName outer =
            joint.job().isEmpty() || joint.job().equals(worker.job()) ? worker : worker.local();
        set.forEach(node -> devices.put(node.getName(), joint.within(outer)));
        if (keeps && joint.task().isPresent()) {
          Task task =
              new Task(joint.job().orElse(servers.getFirst().job()), joint.task().getAsInt());
          load.merge(task, bytes(set), Long::sum);
        }
      }
    }
    spread(unplaced, load, devices);
    new Constants(index).settle(devices);
    GraphDef.Builder placed = graph.toBuilder();
    for (NodeDef.Builder node : placed.getNodeBuilderList()) {
      DeviceName own = DeviceName.parse(node.getDevice());
      node.setDevice(own.within(devices.getOrDefault(node.getName(), DeviceName.ANY)).toString());
    }
    return placed.build();
  }

  private record Shard(List<NodeDef> nodes, long bytes) {}

  private void spread(List<Shard> shards, Map<Task, Long> load, Map<String, DeviceName> devices) {
    if (strategy == VariablePlacement.BALANCED_BYTES) {
      // The sort is stable: shards of equal size keep the graph's order.
      shards.sort(Comparator.comparingLong(Shard::bytes).reversed());
    }
    int turn = 0;
    for (Shard shard : shards) {
      Task task =
          switch (strategy) {
            case ROUND_ROBIN -> servers.get(turn++ % servers.size());
            case BALANCED_BYTES ->
                servers.stream()
                    .min(Comparator.comparingLong(server -> load.getOrDefault(server, 0L)))
                    .orElseThrow();
          };
      load.merge(task, shard.bytes, Long::sum);
      shard.nodes.forEach(node -> devices.put(node.getName(), DeviceName.ANY.on(task)));
    }
  }

  private boolean servedBy(DeviceName joint) {
    return joint.job().isEmpty()
        || servers.stream().anyMatch(task -> task.job().equals(joint.job().get()));
  }

  private long bytes(List<NodeDef> set) {
    return switch (strategy) {
      case ROUND_ROBIN -> 0;
      case BALANCED_BYTES ->
          set.stream()
              .filter(node -> VARIABLES.contains(node.getOp()))
              .mapToLong(VariableSizes::bytes)
              .sum();
    };
  }
}
