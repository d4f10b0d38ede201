// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.placement.ReplicaDeviceSetter;
import io.weft.tensorflow.placement.VariablePlacement;
import io.weft.tensorflow.session.WeftServer;
import io.weft.workloads.batch.Columns;
import io.weft.workloads.checkpoint.History;
import io.weft.workloads.data.Examples;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingException;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingSettings;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.tensorflow.proto.GraphDef;

/// A worker. It reads its share of the data, trains, waits for the other workers, and reports if it
/// is the lowest remaining worker. Confined to one thread.
final class TrainingWorker {

  private final ServedTraining training;
  private final TrainingSettings settings;
  private final TaskLayout layout;
  private final WeftServer member;
  private final GraphSession.Opener opener;
  private final int index;
  private final Duration limit;

  TrainingWorker(
      ServedTraining training, TaskLayout layout, WeftServer member, GraphSession.Opener opener) {
    this.training = training;
    this.settings = training.settings();
    this.layout = layout;
    this.member = member;
    this.opener = opener;
    this.index = layout.worker(training.weft().rank());
    this.limit = training.weft().config().deadline();
  }

  Optional<ServedResult> run() throws InterruptedException {
    Examples all = training.source().train();
    Columns columns = columns(all);
    int workers = training.servers().workers();
    var results = new WorkerResults(columns.steps() * settings.epochs());
    Replica replica = Replica.of(settings, training.servers(), all, results);
    GraphDef placed =
        ReplicaDeviceSetter.of(member.cluster(), member.task(), VariablePlacement.BALANCED_BYTES)
            .place(replica.graph());
    Examples mine = all.select(columns.rows(index, workers));
    Optional<ServerCheckpoints> checkpoints =
        index == 0 ? ServerCheckpoints.of(training, replica.memory(), limit) : Optional.empty();
    try (GraphSession session = opener.open(placed, limit)) {
      int epochs = begin(session, checkpoints, all, columns.steps());
      History before = checkpoints.map(ServerCheckpoints::history).orElse(History.NONE);
      var reporter = new ProgressReporter(training.observer(), this::isLowest);
      reporter.onStart(
          new TrainingObserver.Start(
              training.source().name(),
              replica.parameters(),
              columns.examples(),
              columns.steps(),
              epochs));
      var plan =
          new WorkerLoop.Plan(
              settings, training.servers(), columns, index, epochs * columns.steps(), limit);
      var loop = new WorkerLoop(plan, replica, session, mine, reporter);
      Optional<SynchronousUpdates> updates = Optional.empty();
      if (settings.sync() instanceof Sync.Asynchronous) {
        loop.asynchronous(checkpoints);
      } else if (index > 0) {
        training.weft().onFailure(cause -> abandon(session, cause));
        loop.synchronous();
      } else {
        training.weft().onFailure(cause -> abandon(session, cause));
        try (GraphSession taking = opener.open(placed, limit)) {
          updates = Optional.of(new SynchronousUpdates(taking, replica, plan, checkpoints));
          synchronous(loop, session, taking, updates.get());
        }
      }
      results.write(session, index, loop.row(training.weft().bytesSent()), limit);
      var workerStates = new WorkerStates(member, results, session, limit);
      List<WorkerResults.Row> rows = workerStates.awaitAll();
      if (!workerStates.isLowest(index, rows)) {
        return Optional.empty();
      }
      var closing = new RunFinalizer(training, plan, before, replica, session);
      return Optional.of(closing.served(rows, loop.nanos(), updates, workerStates.lost(rows)));
    }
  }

  private void synchronous(
      WorkerLoop loop, GraphSession session, GraphSession taking, SynchronousUpdates updates)
      throws InterruptedException {
    training.weft().onFailure(cause -> abandon(taking, cause));
    updates.start(session::abandon);
    loop.synchronous();
    updates.await();
  }

  /// Abandons steps that would wait for a lost worker. Weft's session detects a lost server itself.
  private void abandon(GraphSession session, CommException cause) {
    String why = String.valueOf(cause.getMessage());
    if (!(cause instanceof CommException.PeerLost lost)) {
      session.abandon(why);
    } else if (!layout.isServer(lost.rank()) || training.servers().via() == Servers.Via.GRPC) {
      session.abandon(layout.task(lost.rank()) + " is lost: " + why);
    }
  }

  /// Initializes the variables on the first worker, with new values or those of a checkpoint; the
  /// other workers wait for it. Returns the number of completed epochs.
  private int begin(
      GraphSession session,
      Optional<ServerCheckpoints> checkpoints,
      Examples data,
      int stepsPerEpoch)
      throws InterruptedException {
    long epochs = 0;
    Optional<Communicator> others =
        training.servers().workers() > 1
            ? Optional.of(training.weft().communicator(layout.workers()))
            : Optional.empty();
    if (others.isPresent()) {
      SameData.require(training.weft(), others.get(), data);
    }
    if (index == 0) {
      session
          .run(new GraphCall(List.of(), List.of(), List.of(Replica.INIT)), Map.of(), limit)
          .close();
      if (checkpoints.isPresent()) {
        epochs = checkpoints.get().restore(session, stepsPerEpoch);
      }
    }
    if (others.isPresent()) {
      Communicator workers = others.get();
      try (TensorLease told = training.weft().allocate(DType.INT64, Shape.of(1))) {
        told.view().data().set(ValueLayout.JAVA_LONG, 0, epochs);
        var unused =
            workers.broadcast(told.view(), 0, CollectiveOptions.named("weft-train/begin")).await();
        epochs = told.view().data().get(ValueLayout.JAVA_LONG, 0);
      }
      awaitOthers(workers);
    }
    return (int) epochs;
  }

  /// Waits until all workers know the first step. Otherwise a worker that is lost early would fail
  /// workers that still wait for the broadcast. A worker that knows the first step can train
  /// without a lost worker, unless steps wait for all workers.
  private void awaitOthers(Communicator workers) throws InterruptedException {
    try {
      var unused = workers.barrier(CollectiveOptions.named("weft-train/begun")).await();
    } catch (CommException.PeerLost lost) {
      if (!(settings.sync() instanceof Sync.Asynchronous)) {
        throw lost;
      }
    }
  }

  /// Returns whether no lower worker remains.
  private boolean isLowest() {
    List<Task> gone = member.gone();
    return IntStream.range(0, index)
        .allMatch(below -> gone.contains(new Task(TaskLayout.WORKERS, below)));
  }

  private Columns columns(Examples all) {
    int workers = training.servers().workers();
    if (settings.batch() > all.count() || settings.batch() < workers) {
      throw new TrainingException.Unfit(
          "--batch %d: expected from %d, the workers, to %d, the examples to train on"
              .formatted(settings.batch(), workers, all.count()));
    }
    return new Columns(all.count(), settings.batch(), settings.seed());
  }
}
