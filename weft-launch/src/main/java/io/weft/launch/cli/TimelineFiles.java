// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.launch.timeline.JobTimelines;
import io.weft.transport.limit.Refusal;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/// The timelines that the subcommands of `weft trace` read.
final class TimelineFiles {

  private TimelineFiles() {}

  /// Those in a directory; what is wrong with some is told. Throws `ParameterException` where the
  /// directory cannot be read, or has none that can.
  static JobTimelines in(CommandSpec command, Path directory) {
    JobTimelines job;
    try {
      job = JobTimelines.in(directory);
    } catch (IOException unreadable) {
      throw new ParameterException(
          command.commandLine(),
          "cannot read " + directory + ": " + Refusal.reason(unreadable),
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

  static ParameterException unwritable(
      CommandSpec command, String option, Path file, IOException why) {
    return new ParameterException(
        command.commandLine(), option + ": cannot write " + file + ": " + Refusal.reason(why), why);
  }
}
