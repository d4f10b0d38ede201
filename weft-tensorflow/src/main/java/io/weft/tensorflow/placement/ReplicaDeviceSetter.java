// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.DeviceName;
import io.weft.tensorflow.cluster.Task;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// The device function of parameter servers: variables, and what changes them, on the tasks of one
/// job, everything else on the worker. What a node's own device says stays as it is. Variables that
/// one op changes together, such as a weight and its momentum, go to one task, and constants that
/// only one task uses go there.
///
/// @param servers the tasks that keep variables, at least one
/// @param worker the device of everything else
/// @param strategy which variable goes to which task
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

  /// Throws `IllegalArgumentException` if there is no server.
  public ReplicaDeviceSetter {
    servers = List.copyOf(servers);
    if (servers.isEmpty()) {
      throw new IllegalArgumentException("no task to keep variables");
    }
  }

  /// Variables on the tasks of job `ps`, everything else on `worker`.
  public static ReplicaDeviceSetter of(
      ClusterSpec cluster, Task worker, VariablePlacement strategy) {
    return new ReplicaDeviceSetter(cluster.tasks("ps"), DeviceName.ANY.on(worker), strategy);
  }

  /// `graph` with devices. Where a variable goes does not depend on the worker, so that workers
  /// with equal graphs agree. Throws `IllegalArgumentException` naming nodes that must be on one
  /// task and are not, or the variable whose bytes are not known.
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
        // The worker's index means nothing in another job.
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
      // The sort is stable: what is equally large keeps the graph's order.
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
