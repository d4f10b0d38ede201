// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.collective.CollectiveOptions;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.placement.ReplicaDeviceSetter;
import io.weft.tensorflow.placement.VariablePlacement;
import io.weft.tensorflow.session.WeftServer;
import io.weft.workloads.batch.Columns;
import io.weft.workloads.data.Examples;
import io.weft.workloads.sendrecv.GraphSession;
import io.weft.workloads.training.Observer;
import io.weft.workloads.training.Settings;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.tensorflow.proto.GraphDef;

/// A worker: reads its share of the data, trains, waits for the others, and reports if it is the
/// lowest that is left. One thread.
final class Worker {

  private final ServedTraining training;
  private final Settings settings;
  private final TaskLayout layout;
  private final WeftServer member;
  private final GraphSession.Opener opener;
  private final int index;
  private final Duration limit;

  Worker(
      ServedTraining training, TaskLayout layout, WeftServer member, GraphSession.Opener opener) {
    this.training = training;
    this.settings = training.settings();
    this.layout = layout;
    this.member = member;
    this.opener = opener;
    this.index = layout.worker(training.weft().rank());
    this.limit = training.weft().config().deadline();
  }

  Optional<Served> run() throws InterruptedException {
    Examples all = training.source().train();
    Columns columns = columns(all);
    int workers = training.servers().workers();
    var tally = new Tally(columns.steps() * settings.epochs());
    Replica replica = Replica.of(settings, training.servers(), all, tally);
    GraphDef placed =
        ReplicaDeviceSetter.of(member.cluster(), member.task(), VariablePlacement.BALANCED_BYTES)
            .place(replica.graph());
    Examples mine = all.select(columns.rows(index, workers));
    try (GraphSession session = opener.open(placed, limit)) {
      initialize(session);
      training
          .observer()
          .onStart(
              new Observer.Start(
                  training.source().name(),
                  replica.parameters(),
                  columns.examples(),
                  columns.steps(),
                  0));
      var shift =
          new Shift(
              new Shift.Plan(settings, training.servers(), columns, index, limit),
              replica,
              session,
              mine,
              training.observer());
      Optional<Updates> updates = Optional.empty();
      if (settings.sync() instanceof Sync.Asynchronous) {
        shift.asynchronous();
      } else {
        updates = synchronous(shift, session, replica, placed, tally.steps());
      }
      tally.write(session, index, shift.row(training.weft().bytesSent()), limit);
      var attendance = new Attendance(member, tally, session, limit);
      List<Tally.Row> rows = attendance.awaitAll();
      if (!attendance.isLowest(index, rows)) {
        return Optional.empty();
      }
      var closing = new Closing(training, columns, replica, session, limit);
      return Optional.of(closing.served(rows, shift.nanos(), updates, attendance.lost(rows)));
    }
  }

  private Optional<Updates> synchronous(
      Shift shift, GraphSession session, Replica replica, GraphDef placed, int steps)
      throws InterruptedException {
    training.weft().onFailure(cause -> session.cancel(String.valueOf(cause.getMessage())));
    if (index > 0) {
      shift.synchronous();
      return Optional.empty();
    }
    try (GraphSession taking = opener.open(placed, limit)) {
      var updates = new Updates(taking, replica, steps, limit);
      updates.start(session::cancel);
      training.weft().onFailure(cause -> taking.cancel(String.valueOf(cause.getMessage())));
      shift.synchronous();
      updates.await();
      return Optional.of(updates);
    }
  }

  /// The first worker gives the variables their values; the others wait for that.
  private void initialize(GraphSession session) throws InterruptedException {
    if (index == 0) {
      session
          .run(new GraphCall(List.of(), List.of(), List.of(Replica.INIT)), Map.of(), limit)
          .close();
    }
    if (training.servers().workers() > 1) {
      var workers = training.weft().communicator(layout.workers());
      var unused = workers.barrier(CollectiveOptions.named("weft-train/initialized")).await();
    }
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
