// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `weft`: the choice of subcommands.
@Command(
    name = "weft",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    description = "Carries tensors between processes for distributed deep learning.",
    subcommands = {
      TrainCommand.class,
      RunCommand.class,
      JavaCommand.class,
      DoctorCommand.class,
      TraceCommand.class
    },
    footer = {
      "",
      "Examples:",
      "  weft train mnist-cnn -np 2          train a network on two processes",
      "  weft run -np 4 -- ./my-program      start four ranks of any program",
      "  weft java -cp app.jar Train         run Java with Weft on its path",
      "  weft perf allreduce -np 2           measure",
      "  weft plan wide-deep --link 10g      choose allreduce or servers before there is a network",
      "  weft reproduce --out DIR            compare with the figures of five documents",
      "  weft doctor                         see what works on this machine",
      "  weft trace flight DIR               see why a job failed",
      "  weft trace report DIR               see where its time went",
      "",
      "Exit codes: 0 done, 1 failed, 2 wrong command line or settings, 3 something is missing"
          + " here,",
      "130 interrupted. 'weft COMMAND --help' tells more."
    })
public final class WeftCommand implements Callable<Integer> {

  @Spec private @Nullable CommandSpec spec;

  /// Creates the command, for picocli.
  public WeftCommand() {}

  @Override
  public Integer call() {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    throw new ParameterException(
        command.commandLine(),
        "which command? train, run, perf, plan, reproduce, java, doctor or trace");
  }
}
