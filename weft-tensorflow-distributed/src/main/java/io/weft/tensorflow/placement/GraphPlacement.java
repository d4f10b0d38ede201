// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.DeviceName;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.proto.NodeDef;

/// The task of each node of a graph. A node runs on the task of its device. A device that names
/// only a job means the default task if that belongs to the job, otherwise the job's first task. A
/// node without a task in its device runs with its variable, resource or `_class`, or else on the
/// default task.
public final class GraphPlacement {

  private final GraphIndex graph;
  private final Map<String, Task> tasks = new HashMap<>();

  /// Throws `IllegalArgumentException`, which names the nodes, if a device is not in the cluster,
  /// or if nodes that share a variable, a resource or a `_class` are on different tasks.
  public GraphPlacement(GraphIndex graph, OpTypes types, ClusterSpec cluster, Task defaultTask) {
    this.graph = graph;
    cluster.require(defaultTask);
    for (List<NodeDef> set : new Colocation(graph, types).sets()) {
      Task task = task(Colocation.joint(set), set, cluster, defaultTask);
      set.forEach(node -> tasks.put(node.getName(), task));
    }
  }

  /// Returns the task of a node, or of a feed or fetch of the form `node:1`. Throws
  /// `IllegalArgumentException` if the graph does not have the node.
  public Task taskOf(String node) {
    String name = graph.contains(node) ? node : NodeInput.parse(node).node();
    Task task = tasks.get(name);
    if (task == null) {
      throw new IllegalArgumentException("the graph has no node '" + name + "'");
    }
    return task;
  }

  private static Task task(
      DeviceName device, List<NodeDef> set, ClusterSpec cluster, Task defaultTask) {
    if (device.replica().orElse(0) != 0) {
      throw refused(device, set, "Weft's clusters have replica 0 only");
    }
    String job = device.job().orElse(defaultTask.job());
    if (device.task().isPresent()) {
      Task named = new Task(job, device.task().getAsInt());
      if (!cluster.contains(named)) {
        throw refused(device, set, "the cluster has " + cluster);
      }
      return named;
    }
    if (job.equals(defaultTask.job())) {
      return defaultTask;
    }
    return cluster.tasks(job).stream()
        .findFirst()
        .orElseThrow(() -> refused(device, set, "the cluster has " + cluster));
  }

  private static IllegalArgumentException refused(
      DeviceName device, List<NodeDef> set, String why) {
    NodeDef node =
        set.stream()
            .filter(one -> !Colocation.task(one).equals(DeviceName.ANY))
            .findFirst()
            .orElseGet(set::getFirst);
    return new IllegalArgumentException(
        "node '%s' is on %s, which is not a task: %s".formatted(node.getName(), device, why));
  }
}
