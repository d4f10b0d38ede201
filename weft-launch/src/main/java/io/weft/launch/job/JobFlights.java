// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.cluster.store.TcpStoreServer;
import io.weft.comm.CommException;
import io.weft.launch.flight.FlightReport;
import io.weft.launch.flight.JobLogs;
import io.weft.telemetry.flight.FlightConfig;
import io.weft.telemetry.flight.FlightFile;
import io.weft.telemetry.flight.FlightLog;
import io.weft.telemetry.flight.FlightPost;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The flight logs of a job. Ranks of this host write them as files; ranks of other hosts send them
/// to the store.
final class JobFlights {

  private final JobPlan plan;
  private final FlightFile files;
  private final boolean kept;
  private final TcpStoreServer store;
  private final String job;
  private final List<String> unkept = new ArrayList<>();

  /// Creates the user's directory of flight files, if any, and removes files of an earlier job from
  /// it. Throws `CommException.Setup` if something else is at its path or no file can be written.
  JobFlights(JobPlan plan, LaunchDirectory directory, TcpStoreServer store, String job) {
    Optional<Path> given = plan.config().value(FlightConfig.DIRECTORY);
    this.plan = plan;
    this.kept = given.isPresent();
    this.files = new FlightFile(given.orElseGet(directory::flights).toAbsolutePath());
    this.store = store;
    this.job = job;
    if (kept) {
      prepare();
      plan.ranks().forEach(rank -> remove(rank.rank()));
    }
  }

  private void prepare() {
    try {
      files.prepare();
    } catch (IOException refused) {
      throw new CommException.Setup(
          "--flight-dir: flight files cannot be kept in "
              + IoErrors.words(refused)
              + "; name another directory",
          refused);
    }
  }

  private void remove(int rank) {
    try {
      files.remove(rank);
    } catch (IOException refused) {
      throw new CommException.Setup("--flight-dir: " + refused.getMessage(), refused);
    }
  }

  /// Returns the directory for the files of this host's ranks.
  Path directory() {
    return files.directory();
  }

  /// Returns the findings of a failed job's logs, as lines; empty without logs.
  ///
  /// @param ended the end of each rank that ended by itself, in words
  List<String> judge(Map<Integer, String> ended) {
    JobLogs logs = JobLogs.of(this::find, plan.ranks().size(), job, ended);
    var lines = new ArrayList<String>();
    FlightReport.of(logs).ifPresent(report -> lines.addAll(report.lines()));
    lines.addAll(unkept);
    if (!lines.isEmpty()) {
      lines.add(
          kept
              ? "  the ranks' flight files are in "
                  + directory()
                  + "; 'weft trace flight "
                  + directory()
                  + "' reads them again"
              : "  keep the ranks' flight files with --flight-dir DIR");
    }
    return lines;
  }

  private Optional<FlightLog> find(int rank) throws IOException {
    Optional<FlightLog> file = files.find(rank);
    if (file.isPresent()) {
      return file;
    }
    Optional<FlightLog> sent = FlightPost.find(store.find(FlightPost.key(rank)), rank);
    if (sent.isPresent() && kept) {
      keep(sent.get());
    }
    return sent;
  }

  /// Keeps a copy of the log; a log that cannot be written is still analysed.
  private void keep(FlightLog log) {
    try {
      files.put(log);
    } catch (IOException unwritable) {
      unkept.add(
          "  the flight log of rank "
              + log.self().rank()
              + " cannot be kept in "
              + directory()
              + ": "
              + IoErrors.reason(unwritable));
    }
  }
}
