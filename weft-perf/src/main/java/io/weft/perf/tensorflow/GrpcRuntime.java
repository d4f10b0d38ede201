// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.tensorflow;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.workloads.parameterserver.GraphRuntime;
import io.weft.workloads.parameterserver.GraphSession;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/// TensorFlow's own runtime for `weft train --via grpc`. Each rank opens a random port on all
/// interfaces, see `GrpcServer`.
public final class GrpcRuntime implements GraphRuntime {

  /// For `ServiceLoader`.
  public GrpcRuntime() {}

  @Override
  public String name() {
    return "grpc";
  }

  @Override
  public GraphSession.Opener start(
      Weft weft, Task task, Function<List<String>, ClusterSpec> cluster, int threads)
      throws InterruptedException {
    GrpcServer server = GrpcServer.start(cluster.apply(addresses(weft)), task, threads);
    return (graph, limit) -> GrpcSession.open(server, graph, limit);
  }

  private static List<String> addresses(Weft weft) throws InterruptedException {
    List<String> addresses = new ArrayList<>();
    boolean oneHost = weft.localSize() == weft.size();
    try (TensorLease mine = weft.allocate(DType.INT64, Shape.of(1))) {
      mine.view().data().set(ValueLayout.JAVA_LONG, 0, GrpcPorts.free(1).getFirst());
      try (TensorLease all =
          weft.communicator()
              .allgather(mine.view(), CollectiveOptions.named("weft-train/ports"))
              .await()) {
        for (int rank = 0; rank < weft.size(); rank++) {
          String host = oneHost ? "127.0.0.1" : weft.topology().members().get(rank).host();
          addresses.add(host + ":" + all.view().data().getAtIndex(ValueLayout.JAVA_LONG, rank));
        }
      }
    }
    return addresses;
  }
}
