// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.workloads.djl.DjlWorker;
import io.weft.workloads.keyvalue.KeyValueTraining;
import io.weft.workloads.parameterserver.ServedResult;
import io.weft.workloads.parameterserver.ServedTraining;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.report.Preparation;
import io.weft.workloads.report.ProgressPrinter;
import io.weft.workloads.report.Summary;
import io.weft.workloads.report.ToldSource;
import io.weft.workloads.report.TrainReport;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Optional;

/// `weft train` with parameter servers, on one rank.
final class ServedTool {

  private ServedTool() {}

  /// Returns the facts for a launcher: the number of ranks, the rank that reports, dispensable
  /// ranks (asynchronous workers need no other worker), and this process's rank in `TF_CONFIG`, if
  /// any.
  static String ranks(TrainOptions options, Servers servers) {
    StringBuilder ranks = new StringBuilder();
    ranks.append("ranks=").append(servers.ranks()).append(" reports=").append(servers.servers());
    boolean alone =
        options.settings().sync() instanceof Sync.Asynchronous
            && servers.via() != Servers.Via.PS; // its workers meet at the end
    if (alone && servers.workers() > 1) {
      ranks.append(" dispensable=").append(servers.servers());
      ranks.append('-').append(servers.ranks() - 1);
    }
    options.task().ifPresent(task -> ranks.append(" task=").append(task.rank()));
    return ranks.toString();
  }

  /// Serves or trains, and prints the summary on the rank that reports. Gives up if a rank is lost
  /// without which this rank cannot continue.
  static void train(
      TrainOptions options, Servers servers, Weft weft, PrintWriter out, PrintWriter err)
      throws IOException {
    var training = TrainingThread.start(() -> run(options, servers, weft, out, err));
    Sync sync = options.settings().sync();
    weft.onFailure(
        cause -> {
          if (isNeeded(cause, sync, servers, weft.rank())) {
            training.giveUp(cause);
          }
        });
    training.await();
  }

  /// Returns whether this rank cannot continue after the failure. Synchronous workers need every
  /// rank, also those for whose gradients a step does not wait, because all meet at the end.
  static boolean isNeeded(CommException cause, Sync sync, Servers servers, int rank) {
    boolean servesThisRank =
        rank >= servers.servers()
            && cause instanceof CommException.PeerLost lost
            && lost.rank() < servers.servers();
    return servesThisRank
        || !(sync instanceof Sync.Asynchronous)
        || servers.via() == Servers.Via.PS;
  }

  private static void run(
      TrainOptions options, Servers servers, Weft weft, PrintWriter out, PrintWriter err) {
    boolean first = weft.rank() == servers.servers();
    try (var preparation = Preparation.start(err, TrainTool.style(), () -> first)) {
      run(options, servers, weft, preparation, out, err);
    }
  }

  private static void run(
      TrainOptions options,
      Servers servers,
      Weft weft,
      Preparation preparation,
      PrintWriter out,
      PrintWriter err) {
    var settings = options.settings();
    var source = new ToldSource(options.source(), preparation);
    var progress =
        new ProgressPrinter(
            err,
            preparation,
            TrainTool.style(),
            settings,
            () -> true); // called only on the worker that reports
    var extras = new ReportFiles(options);
    if (weft.rank() == servers.servers()) {
      extras.begin();
    }
    Optional<ServedResult> served;
    try {
      int threads = options.threads().orElse(weft.processorShare());
      var training = new ServedTraining(settings, servers, source, weft, threads, progress);
      served = servers.via() == Servers.Via.PS ? byKeys(training).run() : training.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while training", e);
    }
    if (served.isPresent()) {
      report(extras, options.settings(), served.get(), weft, out);
    }
    extras.require(progress.isUnsaved());
  }

  private static KeyValueTraining byKeys(ServedTraining training) {
    return switch (training.settings().engine()) {
      case TENSORFLOW -> new KeyValueTraining(training);
      case DJL -> new KeyValueTraining(training, DjlWorker::new);
    };
  }

  private static void report(
      ReportFiles extras,
      TrainingSettings settings,
      ServedResult served,
      Weft weft,
      PrintWriter out) {
    TrainReport report = TrainReport.of(settings, served, weft.size(), weft.transport());
    extras.write(report, served.outcome());
    out.print(Summary.of(report, served.outcome()));
    out.flush();
  }
}
