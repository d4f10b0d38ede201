// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.launch.flight.FlightReport;
import io.weft.launch.flight.JobLogs;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `weft trace flight`: analyses the flight files of a failed job.
@Command(
    name = "flight",
    mixinStandardHelpOptions = true,
    description = {
      "Names missing submissions and the last operation of each rank, from the flight files that"
          + " the ranks of a failed job left.",
      ""
    },
    footer = {
      "",
      "Example:",
      "  weft run -np 4 --flight-dir flights -- java -cp app.jar Train",
      "  weft trace flight flights --json report.json"
    })
final class FlightCommand implements Callable<Integer> {

  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "DIR", description = "what --flight-dir was")
  private @Nullable Path directory;

  @Option(names = "--json", paramLabel = "FILE", description = "also write one JSON object")
  private @Nullable Path json;

  FlightCommand() {}

  @Override
  public Integer call() {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    Path from = Objects.requireNonNull(directory, "picocli sets the directory");
    JobLogs logs;
    try {
      logs = JobLogs.in(from);
    } catch (IOException unreadable) {
      throw new ParameterException(
          command.commandLine(),
          "cannot read " + from + ": " + IoErrors.reason(unreadable),
          unreadable);
    }
    PrintWriter err = command.commandLine().getErr();
    logs.unreadable().values().forEach(what -> err.println("weft: " + what));
    err.flush();
    FlightReport report =
        FlightReport.of(logs)
            .orElseThrow(
                () ->
                    new MissingRequirement(
                        from
                            + " has no flight file (rank-0.flight …) that tells of a failure; ranks"
                            + " leave them where --flight-dir says, when something fails"));
    PrintWriter out = command.commandLine().getOut();
    report.lines().forEach(out::println);
    out.flush();
    JsonReport.write(command, json, report);
    return ExitCodes.DONE;
  }
}
