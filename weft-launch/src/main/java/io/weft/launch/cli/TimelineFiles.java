// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.launch.timeline.JobTimelines;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/// Reads the timelines for the subcommands of `weft trace`.
final class TimelineFiles {

  private TimelineFiles() {}

  /// Returns the timelines in a directory, and prints problems of single files. Throws
  /// `ParameterException` if the directory or all of its timelines cannot be read.
  static JobTimelines in(CommandSpec command, Path directory) {
    JobTimelines job;
    try {
      job = JobTimelines.in(directory);
    } catch (IOException unreadable) {
      throw new ParameterException(
          command.commandLine(),
          "cannot read " + directory + ": " + IoErrors.reason(unreadable),
          unreadable);
    }
    if (job.tracks().isEmpty() && job.problems().isEmpty()) {
      throw new ParameterException(
          command.commandLine(),
          directory
              + " has no timeline (rank-0.weft-trace …); ranks leave them where --timeline says");
    }
    PrintWriter err = command.commandLine().getErr();
    job.problems().forEach(problem -> err.println("weft: " + problem));
    err.flush();
    if (job.tracks().isEmpty()) {
      throw new ParameterException(
          command.commandLine(), directory + " has no timeline that can be read");
    }
    return job;
  }
}
