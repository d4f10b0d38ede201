// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.cluster.store.TcpStoreServer;
import io.weft.comm.CommException;
import io.weft.flight.FlightFile;
import io.weft.flight.FlightLog;
import io.weft.flight.FlightPost;
import io.weft.launch.flight.FlightReport;
import io.weft.launch.flight.JobLogs;
import io.weft.transport.limit.Refusal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The flight logs of a job: ranks of this host leave them as files, those of other hosts send them
/// to the store.
final class JobFlights {

  private final JobPlan plan;
  private final FlightFile files;
  private final boolean kept;
  private final TcpStoreServer store;
  private final String job;
  private final List<String> unkept = new ArrayList<>();

  /// Makes the directory where the user wants the files, and removes what an earlier job left
  /// there. Throws `CommException.Setup` where something else is there or no file can be written.
  JobFlights(JobPlan plan, LaunchDirectory directory, TcpStoreServer store, String job) {
    Optional<Path> given = plan.config().flightDir();
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
              + Refusal.words(refused)
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

  /// Where ranks of this host leave their files.
  Path directory() {
    return files.directory();
  }

  /// What the logs of a job that failed say, in lines for people; none without logs.
  ///
  /// @param ended by rank how its process ended of its own accord
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

  /// What cannot be kept is of use all the same.
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
              + Refusal.reason(unwritable));
    }
  }
}
