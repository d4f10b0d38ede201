// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.launch.timeline.TimelineReport;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `weft trace report`: prints the division of a job's time.
@Command(
    name = "report",
    mixinStandardHelpOptions = true,
    description = {
      "Prints how the time of the steps was used, and for which rank the others waited, from the"
          + " timelines of all ranks.",
      ""
    },
    footer = {
      "",
      "Example:",
      "  weft train mnist-cnn -np 2 --timeline traces",
      "  weft trace report traces --json report.json"
    })
final class ReportCommand implements Callable<Integer> {

  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "DIR", description = "what --timeline was")
  private @Nullable Path directory;

  @Option(names = "--json", paramLabel = "FILE", description = "also write one JSON object")
  private @Nullable Path json;

  ReportCommand() {}

  @Override
  public Integer call() throws IOException {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    Path from = Objects.requireNonNull(directory, "picocli sets the directory");
    TimelineReport report = TimelineReport.of(TimelineFiles.in(command, from));
    PrintWriter out = command.commandLine().getOut();
    report.lines().forEach(out::println);
    out.flush();
    JsonReport.write(command, json, report);
    return ExitCodes.DONE;
  }
}
