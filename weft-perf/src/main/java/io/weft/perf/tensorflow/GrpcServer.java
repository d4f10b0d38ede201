// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.tensorflow;

import static org.tensorflow.internal.c_api.global.tensorflow.TF_NewServer;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_ServerStart;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_ServerTarget;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.natives.TensorFlowLibraries;
import java.util.Map;
import java.util.TreeMap;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.PointerScope;
import org.tensorflow.internal.c_api.TF_Server;
import org.tensorflow.internal.c_api.TF_Status;
import org.tensorflow.proto.ClusterDef;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.proto.JobDef;
import org.tensorflow.proto.ServerDef;

/// One task of a cluster under TensorFlow's own runtime over gRPC.
///
/// **The server listens on all interfaces, regardless of the host in the cluster, and does not
/// authenticate clients**: a client that reaches the port can run any graph in this process. Use it
/// only for comparisons, on a machine or in a network namespace that untrusted clients cannot
/// reach.
///
/// TensorFlow cannot stop a server, so it serves until the process ends. Safe for use by any
/// thread.
public final class GrpcServer {

  private final Task task;
  private final String target;

  private GrpcServer(Task task, String target) {
    this.task = task;
    this.target = target;
  }

  /// Starts `task` on the port of its address. Throws `IllegalArgumentException` if the cluster
  /// lacks the task, `GraphException` with TensorFlow's message if the port is in use.
  public static GrpcServer start(ClusterSpec cluster, Task task) {
    return start(cluster, task, 0);
  }

  /// Starts `task` with a number of threads.
  ///
  /// @param threads number of threads that share the computation of a node, 0 for one per
  ///   processor; the first session or server of a process determines it for all
  public static GrpcServer start(ClusterSpec cluster, Task task, int threads) {
    byte[] definition = definition(cluster, cluster.require(task), threads).toByteArray();
    var unused = TensorFlowLibraries.load();
    try (PointerScope _ = new PointerScope()) {
      TF_Status status = TF_Status.newStatus();
      // No deallocator is attached, because TensorFlow would abort if the server were deleted.
      TF_Server server = TF_NewServer(new BytePointer(definition), definition.length, status);
      String what = task + " at " + cluster.address(task) + " over gRPC";
      Statuses.require(status, "creation of " + what);
      TF_ServerStart(server, status);
      Statuses.require(status, "start of " + what);
      return new GrpcServer(task, TF_ServerTarget(server).getString());
    }
  }

  private static ServerDef definition(ClusterSpec cluster, Task task, int threads) {
    Map<String, JobDef.Builder> jobs = new TreeMap<>();
    cluster
        .addresses()
        .forEach(
            (each, address) ->
                jobs.computeIfAbsent(each.job(), job -> JobDef.newBuilder().setName(job))
                    .putTasks(each.index(), address));
    ClusterDef.Builder all = ClusterDef.newBuilder();
    jobs.values().forEach(all::addJob);
    return ServerDef.newBuilder()
        .setCluster(all)
        .setJobName(task.job())
        .setTaskIndex(task.index())
        .setProtocol("grpc")
        .setDefaultSessionConfig(ConfigProto.newBuilder().setIntraOpParallelismThreads(threads))
        .build();
  }

  /// Returns the task of this server.
  public Task task() {
    return task;
  }

  /// Returns the server's address for sessions: `grpc://HOST:PORT`.
  public String target() {
    return target;
  }
}
