// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.tensorflow.session.WeftServer;
import io.weft.tensorflow.session.WeftSession;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingSettings;
import java.time.Duration;
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
  /// under gRPC, `GraphException` naming the task that failed or is lost, `DataException` and
  /// `TrainingException`.
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
            case GRPC, PS ->
                runtime(servers.via()).start(weft, layout.task(weft.rank()), layout::at, threads);
          };
      if (layout.isServer(weft.rank())) {
        member.join(SERVING);
        return Optional.empty();
      }
      return new TrainingWorker(this, layout, member, opener).run();
    }
  }

  private static GraphRuntime runtime(Servers.Via via) {
    return GraphRuntime.find(via)
        .orElseThrow(
            () ->
                new GraphException("no runtime '" + via + "' on the class path: weft-perf has it"));
  }
}
