// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `weft trace`: reads the records of ranks.
@Command(
    name = "trace",
    mixinStandardHelpOptions = true,
    description = "Reads the timelines and flight files of a job's ranks.",
    subcommands = {FlightCommand.class, MergeCommand.class, ReportCommand.class},
    footer = {
      "",
      "Examples:",
      "  weft trace flight DIR                 see why a job failed",
      "  weft trace report DIR                 see where its time went",
      "  weft trace merge DIR --out FILE       see it all in a browser"
    })
final class TraceCommand implements Callable<Integer> {

  @Spec private @Nullable CommandSpec spec;

  TraceCommand() {}

  @Override
  public Integer call() {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    throw new ParameterException(command.commandLine(), "which trace? flight, merge or report");
  }
}
