// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.file.NewFile;
import io.weft.launch.timeline.ChromeTrace;
import io.weft.launch.timeline.JobTimelines;
import java.io.BufferedOutputStream;
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

/// `weft trace merge`: makes one trace of the timelines of all ranks.
@Command(
    name = "merge",
    mixinStandardHelpOptions = true,
    description = {
      "Makes one trace of the timelines of all ranks, for Perfetto (ui.perfetto.dev) or"
          + " chrome://tracing.",
      ""
    },
    footer = {
      "",
      "Example:",
      "  weft train mnist-cnn -np 2 --timeline traces",
      "  weft trace merge traces --out trace.json"
    })
final class MergeCommand implements Callable<Integer> {

  private static final int BUFFER_BYTES = 1 << 16;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "DIR", description = "what --timeline was")
  private @Nullable Path directory;

  @Option(names = "--out", paramLabel = "FILE", description = "write the trace there, as JSON")
  private @Nullable Path out;

  MergeCommand() {}

  @Override
  public Integer call() throws IOException {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    Path from = Objects.requireNonNull(directory, "picocli sets the directory");
    Path file = out;
    if (file == null) {
      throw new ParameterException(command.commandLine(), "where to? --out FILE");
    }
    requireWritable(command, "--out", file);
    JobTimelines job = TimelineFiles.in(command, from);
    long[] events = new long[1];
    try {
      NewFile.write(
          file,
          to -> {
            var buffered = new BufferedOutputStream(to, BUFFER_BYTES);
            events[0] = ChromeTrace.write(job, buffered);
            buffered.flush();
          });
    } catch (IOException unwritable) {
      throw TimelineFiles.unwritable(command, "--out", file, unwritable);
    }
    PrintWriter said = command.commandLine().getOut();
    said.printf("%d events of %d ranks in %s%n", events[0], job.tracks().size(), file);
    said.flush();
    return ExitCodes.DONE;
  }

  private static void requireWritable(CommandSpec command, String option, Path file) {
    if (!NewFile.canBegin(file)) {
      throw new ParameterException(
          command.commandLine(),
          option
              + ": cannot write "
              + file
              + ": expected a file in a directory that exists and can be written");
    }
  }
}
