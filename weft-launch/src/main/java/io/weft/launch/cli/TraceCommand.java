// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `weft trace`: reads what ranks recorded.
@Command(
    name = "trace",
    mixinStandardHelpOptions = true,
    description = "Reads what the ranks of a job recorded.",
    subcommands = FlightCommand.class,
    footer = {"", "Example:", "  weft trace flight DIR"})
final class TraceCommand implements Callable<Integer> {

  @Spec private @Nullable CommandSpec spec;

  TraceCommand() {}

  @Override
  public Integer call() {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    throw new ParameterException(command.commandLine(), "which trace? flight");
  }
}
