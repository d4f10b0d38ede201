// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import io.weft.file.ForeignDirectory;
import io.weft.telemetry.flight.FlightFile;
import io.weft.telemetry.flight.FlightLog;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The known facts of a failed job.
///
/// @param logs available logs, by rank
/// @param ended the end of each process that ended by itself, in words, by rank
/// @param unreadable the defect of each unreadable log, by rank
public record JobLogs(
    Map<Integer, FlightLog> logs, Map<Integer, String> ended, Map<Integer, String> unreadable) {

  private static final Pattern FILE = Pattern.compile("rank-([0-9]{1,6})\\.flight");
  private static final int MOST_FILES = 1 << 16;

  /// Copies the maps, in order of rank.
  public JobLogs {
    logs = Collections.unmodifiableMap(new TreeMap<>(logs));
    ended = Collections.unmodifiableMap(new TreeMap<>(ended));
    unreadable = Collections.unmodifiableMap(new TreeMap<>(unreadable));
  }

  /// A source of logs.
  @FunctionalInterface
  public interface LogSource {

    /// Returns the log of a rank; empty = none. Throws `IOException` with the defect of the log.
    Optional<FlightLog> find(int rank) throws IOException;
  }

  /// Returns the logs of this job's first `size` ranks from a source.
  public static JobLogs of(LogSource source, int size, String job, Map<Integer, String> ended) {
    var logs = new TreeMap<Integer, FlightLog>();
    var unreadable = new TreeMap<Integer, String>();
    for (int rank = 0; rank < size; rank++) {
      find(source, rank, logs, unreadable);
    }
    logs.values().removeIf(log -> !log.self().job().equals(job));
    return new JobLogs(logs, ended, unreadable);
  }

  /// Returns all flight files in a directory. Throws `IOException` if it cannot be listed.
  public static JobLogs in(Path directory) throws IOException {
    var logs = new TreeMap<Integer, FlightLog>();
    var unreadable = new TreeMap<Integer, String>();
    var files = new FlightFile(directory);
    ForeignDirectory.entries(directory, "*").stream()
        .map(entry -> FILE.matcher(entry.getFileName().toString()))
        .filter(Matcher::matches)
        .limit(MOST_FILES)
        .forEach(name -> find(files::find, Integer.parseInt(name.group(1)), logs, unreadable));
    return new JobLogs(logs, Map.of(), unreadable);
  }

  private static void find(
      LogSource source, int rank, Map<Integer, FlightLog> logs, Map<Integer, String> unreadable) {
    try {
      source.find(rank).ifPresent(log -> logs.put(rank, log));
    } catch (IOException wrong) {
      unreadable.put(rank, String.valueOf(wrong.getMessage()));
    }
  }

  /// Returns the number of ranks in the job, from its logs.
  int size() {
    return logs.values().stream().mapToInt(log -> log.self().size()).max().orElse(0);
  }
}
