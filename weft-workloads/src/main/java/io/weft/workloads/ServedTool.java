// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.Weft;
import io.weft.workloads.parameterserver.Served;
import io.weft.workloads.parameterserver.ServedTraining;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.report.Progress;
import io.weft.workloads.report.Summary;
import io.weft.workloads.report.TrainReport;
import io.weft.workloads.training.Sync;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Optional;

/// `weft train` with parameter servers, on one rank.
final class ServedTool {

  private ServedTool() {}

  /// What a launcher must know.
  static String ranks(Servers servers) {
    return "ranks=" + servers.ranks() + " reports=" + servers.servers();
  }

  /// Serves or trains, and tells what came of it on the rank that reports. Where nobody trains on
  /// without a rank that is lost, the loss of one ends it here.
  static void train(
      TrainOptions options, Servers servers, Weft weft, PrintWriter out, PrintWriter err)
      throws IOException {
    var training = TrainingThread.start(() -> run(options, servers, weft, out, err));
    if (!(options.settings().sync() instanceof Sync.Asynchronous) && servers.backup() == 0) {
      weft.onFailure(training::giveUp);
    }
    training.await();
  }

  private static void run(
      TrainOptions options, Servers servers, Weft weft, PrintWriter out, PrintWriter err)
      throws IOException {
    var settings = options.settings();
    var progress =
        new Progress(
            err,
            TrainTool.style(),
            settings.epochs(),
            settings.batch(),
            () -> weft.rank() == servers.servers());
    Optional<Served> served;
    try {
      served = new ServedTraining(settings, servers, options.source(), weft, progress).run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while training", e);
    }
    if (served.isPresent()) {
      report(options, served.get(), weft, out);
    }
  }

  private static void report(TrainOptions options, Served served, Weft weft, PrintWriter out)
      throws IOException {
    TrainReport report = TrainReport.of(options.settings(), served, weft.size(), weft.transport());
    try {
      TrainTool.write(options, report, served.outcome());
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    out.print(Summary.of(report, served.outcome()));
  }
}
