// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.CommException;
import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.grpc.GrpcPorts;
import io.weft.tensorflow.grpc.GrpcServer;
import io.weft.tensorflow.grpc.GrpcSession;
import io.weft.tensorflow.session.WeftServer;
import io.weft.tensorflow.session.WeftSession;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.sendrecv.GraphSession;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingSettings;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// One task of a training with parameter servers, as the rank that it runs on says. All ranks of
/// the job call `run` with the same settings. One thread.
///
/// @param settings of the training
/// @param servers how many tasks do what
/// @param source of the data, which each worker reads
/// @param weft the job; borrowed
/// @param threads that share the computation of a node, at least 1
/// @param observer hears how this worker trains, if it is the lowest that is left
public record ServedTraining(
    TrainingSettings settings,
    Servers servers,
    DataSource source,
    Weft weft,
    int threads,
    TrainingObserver observer) {

  /// A server serves at most so long.
  private static final Duration SERVING = Duration.ofDays(365);

  /// Serves until all workers have left, or trains, waits for the other workers, and says what came
  /// of it if this is the lowest worker that is left.
  ///
  /// Throws `CommException.Setup` if the job has not one rank for each task, `StepException` or,
  /// under gRPC, `IllegalStateException` naming the task that failed or is lost, `DataException`
  /// and `TrainingException`.
  public Optional<ServedResult> run() throws InterruptedException {
    if (weft.size() != servers.ranks()) {
      throw new CommException.Setup(
          "%d servers and %d workers are %d ranks, but the job has %d; start one rank for each"
              .formatted(servers.servers(), servers.workers(), servers.ranks(), weft.size()),
          null);
    }
    var layout = new TaskLayout(servers);
    try (WeftServer member = WeftServer.start(weft, layout.nowhere(), threads)) {
      GraphSession.Opener opener =
          switch (servers.via()) {
            case WEFT ->
                (graph, limit) ->
                    new GraphSession.OfWeft(
                        WeftSession.open(member, graph, limit),
                        () -> weft.rendezvous().counts().requests());
            case GRPC -> {
              GrpcServer server =
                  GrpcServer.start(addresses(layout), layout.task(weft.rank()), threads);
              yield (graph, limit) ->
                  new GraphSession.OfGrpc(GrpcSession.open(server, graph, limit));
            }
          };
      if (layout.isServer(weft.rank())) {
        member.join(SERVING);
        return Optional.empty();
      }
      return new TrainingWorker(this, layout, member, opener).run();
    }
  }

  /// Each rank listens on a port of its own choice.
  private ClusterSpec addresses(TaskLayout layout) throws InterruptedException {
    List<String> addresses = new ArrayList<>();
    boolean oneHost = weft.localSize() == weft.size();
    try (TensorLease mine = weft.allocate(DType.INT64, Shape.of(1))) {
      mine.view().data().set(ValueLayout.JAVA_LONG, 0, GrpcPorts.free());
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
    return layout.at(addresses);
  }
}
