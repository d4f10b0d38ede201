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

/// One task of a cluster under TensorFlow's own runtime, over gRPC.
///
/// **It listens on its port on all interfaces, whatever host the cluster names, and authenticates
/// nobody**: who reaches the port can run any graph in this process. Use it to compare with, on a
/// machine or in a network namespace that nobody else reaches.
///
/// TensorFlow cannot stop it: it serves until the process ends. Any thread.
public final class GrpcServer {

  private final Task task;
  private final String target;

  private GrpcServer(Task task, String target) {
    this.task = task;
    this.target = target;
  }

  /// Starts `task` on the port of its address. Throws `IllegalArgumentException` if it is none of
  /// the cluster's, `GraphException` with TensorFlow's words if the port is taken.
  public static GrpcServer start(ClusterSpec cluster, Task task) {
    return start(cluster, task, 0);
  }

  /// The same with a number of threads.
  ///
  /// @param threads that share the computation of a node; 0: one for each processor. The first
  ///   session or server of a process decides for all of them
  public static GrpcServer start(ClusterSpec cluster, Task task, int threads) {
    byte[] definition = definition(cluster, cluster.require(task), threads).toByteArray();
    var unused = TensorFlowLibraries.load();
    try (PointerScope _ = new PointerScope()) {
      TF_Status status = TF_Status.newStatus();
      // No deallocator is attached, so it is never deleted, on which TensorFlow would abort.
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

  /// The task that it is.
  public Task task() {
    return task;
  }

  /// How sessions name it: `grpc://HOST:PORT`.
  public String target() {
    return target;
  }
}
