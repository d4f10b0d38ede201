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

/// One task of a training with parameter servers; the rank determines the task. All ranks of the
/// job call `run` with equal settings. Confined to one thread.
///
/// @param settings of the training
/// @param servers the numbers of tasks
/// @param source of the data, which each worker reads
/// @param weft the job; borrowed
/// @param threads that share the computation of a node, at least 1
/// @param observer notified of this worker's progress if it is the lowest remaining worker
public record ServedTraining(
    TrainingSettings settings,
    Servers servers,
    DataSource source,
    Weft weft,
    int threads,
    TrainingObserver observer) {

  /// The time for which a server serves at most.
  public static final Duration SERVING = Duration.ofDays(365);

  /// Runs the task. A server serves until all workers have left. A worker trains and waits for the
  /// other workers. The lowest remaining worker returns the result, the other tasks return empty.
  ///
  /// Throws `CommException.Setup` if the job does not have one rank for each task. Throws
  /// `StepException` or, under gRPC, `GraphException`, which names the task that failed or is lost.
  /// Throws `DataException` and `TrainingException`.
  public Optional<ServedResult> run() throws InterruptedException {
    requireRanks();
    var layout = new TaskLayout(servers);
    try (WeftServer member = WeftServer.start(weft, layout.nowhere(), threads)) {
      GraphSession.Opener opener =
          switch (servers.via()) {
            case WEFT ->
                (graph, limit) ->
                    new GraphSession.OfWeft(
                        WeftSession.open(member, graph, limit),
                        () -> weft.rendezvous().counts().totals().requests());
            case GRPC, PS ->
                runtime(servers.via()).start(weft, layout.task(weft.rank()), layout::at, threads);
          };
      if (layout.isServer(weft.rank())) {
        member.join(SERVING);
        return Optional.empty();
      }
      int index = layout.worker(weft.rank());
      return new TrainingWorker(this, layout, member, opener, index).run();
    }
  }

  /// Throws `CommException.Setup` unless the job has one rank for each server and worker.
  public void requireRanks() {
    if (weft.size() != servers.ranks()) {
      throw new CommException.Setup(
          "%d servers and %d workers are %d ranks, but the job has %d; start one rank for each"
              .formatted(servers.servers(), servers.workers(), servers.ranks(), weft.size()),
          null);
    }
  }

  private static GraphRuntime runtime(Servers.Via via) {
    return GraphRuntime.find(via)
        .orElseThrow(
            () ->
                new GraphException("no runtime '" + via + "' on the class path: weft-perf has it"));
  }
}
