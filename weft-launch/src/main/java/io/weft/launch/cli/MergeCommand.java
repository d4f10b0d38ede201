// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.file.NewFile;
import io.weft.launch.timeline.ChromeTrace;
import io.weft.launch.timeline.JobTimelines;
import io.weft.launch.timeline.TracePage;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
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

/// `weft trace merge`: merges the timelines of all ranks into one trace.
@Command(
    name = "merge",
    mixinStandardHelpOptions = true,
    description = {
      "Merges the timelines of all ranks into one trace, for Perfetto (ui.perfetto.dev),"
          + " chrome://tracing or as an HTML page.",
      ""
    },
    footer = {
      "",
      "Example:",
      "  weft train mnist-cnn -np 2 --timeline traces",
      "  weft trace merge traces --out trace.json",
      "  weft trace merge traces --html trace.html"
    })
final class MergeCommand implements Callable<Integer> {

  private static final int BUFFER_BYTES = 1 << 16;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "DIR", description = "what --timeline was")
  private @Nullable Path directory;

  @Option(names = "--out", paramLabel = "FILE", description = "write the trace there, as JSON")
  private @Nullable Path out;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "write a page there that shows it in a browser, without network")
  private @Nullable Path html;

  MergeCommand() {}

  /// Writes the content of a file; returns the number of events.
  @FunctionalInterface
  private interface Form {
    long write(JobTimelines job, OutputStream out) throws IOException;
  }

  @Override
  public Integer call() {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    Path from = Objects.requireNonNull(directory, "picocli sets the directory");
    if (out == null && html == null) {
      throw new ParameterException(command.commandLine(), "where to? --out FILE, or --html FILE");
    }
    if (out != null && out.equals(html)) {
      throw new ParameterException(
          command.commandLine(), "--html: another file than that of --out");
    }
    requireWritable(command, "--out", out);
    requireWritable(command, "--html", html);
    JobTimelines job = TimelineFiles.in(command, from);
    write(command, "--out", out, job, ChromeTrace::write);
    write(command, "--html", html, job, TracePage::write);
    return ExitCodes.DONE;
  }

  private static void write(
      CommandSpec command, String option, @Nullable Path file, JobTimelines job, Form form) {
    if (file == null) {
      return;
    }
    long[] events = new long[1];
    try {
      NewFile.write(
          file,
          to -> {
            var buffered = new BufferedOutputStream(to, BUFFER_BYTES);
            events[0] = form.write(job, buffered);
            buffered.flush();
          });
    } catch (IOException unwritable) {
      throw JsonReport.unwritable(command, option, file, unwritable);
    }
    PrintWriter said = command.commandLine().getOut();
    said.printf("%d events of %d ranks in %s%n", events[0], job.tracks().size(), file);
    said.flush();
  }

  private static void requireWritable(CommandSpec command, String option, @Nullable Path file) {
    if (file == null) {
      return;
    }
    NewFile.obstacle(file)
        .ifPresent(
            why -> {
              throw new ParameterException(
                  command.commandLine(), option + ": cannot write " + file + ": " + why);
            });
  }
}
