// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.cluster.LaunchEnvironment;
import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import io.weft.launch.job.JobFailed;
import io.weft.launch.job.JobPlan;
import io.weft.launch.job.LaunchedJob;
import io.weft.launch.process.RankJvm;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/// `weft train`: checks the workload's own arguments, then starts the training ranks. In a process
/// that another launcher started as a rank, it trains directly.
@Command(
    name = "train",
    sortOptions = false,
    customSynopsis = "weft train WORKLOAD [-np N] [options] [the workload's options]",
    description = {
      "Trains one of the papers' workloads; without --data, on embedded data.",
      "",
      "Without a workload, lists them. Under mpirun, srun or torchrun each process is one rank;"
          + " with --via, so it is where TF_CONFIG names its task.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft train mnist-cnn -np 2",
      "  weft train mnist-dnn -np 2 --data DIR --epochs 5 --json report.json",
      "  weft train wide-deep --via weft --workers 2 --servers 2",
      "  mpirun -np 2 weft train mnist-dnn"
    })
final class TrainCommand implements Callable<Integer> {

  /// The settings that workloads have as their own options; they are passed on unchanged.
  static final List<String> OWN_OPTIONS = List.of("transport", "timeline");

  private static final int HELP_WIDTH = 100;

  @Spec private @Nullable CommandSpec spec;

  @Mixin private PlacementFlags placement = new PlacementFlags();

  @Option(
      names = {"-h", "--help"},
      description = "show this help, then the workloads' options")
  private boolean help;

  @Unmatched private List<String> arguments = new ArrayList<>();

  TrainCommand() {}

  @Override
  public Integer call() throws JobFailed, InterruptedException {
    PrintStream out = System.out;
    PrintStream err = System.err;
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    if (help) {
      return help(out, err);
    }
    if (arguments.isEmpty()) {
      return TrainingProvider.find().run(out, err, List.of("--list"));
    }
    TrainingProvider training = TrainingProvider.find();
    boolean own = placement.areGiven();
    if (!own && LaunchEnvironment.detect(System.getenv()).launched()) {
      return asRank(training, command, out, err);
    }
    TrainingProvider.Check check = training.check(err, arguments, own);
    if (check.code() != ExitCodes.DONE) {
      return check.code();
    }
    if (check.isRank()) {
      return asRank(training, command, out, err);
    }
    JobPlan plan =
        placement.plan(
            RankJvm.command(RankMain.class, arguments),
            RankJvm.ENVIRONMENT,
            JobPlan.Output.raw(check.reports()),
            check.ranks());
    if (check.ranks().isPresent()) {
      plan = plan.dispensingWith(check.dispensable());
    }
    try (LaunchedJob job = LaunchedJob.start(plan, out, err)) {
      return codeOf(job.await());
    }
  }

  /// Prints the help of the placement, then of the workloads, then of the settings.
  private static int help(PrintStream out, PrintStream err) {
    new CommandLine(new TrainCommand()).setUsageHelpWidth(HELP_WIDTH).usage(out);
    out.println();
    int code = TrainingProvider.find().run(out, err, List.of("--help"));
    out.println();
    out.println("Settings of Weft's, as flags:");
    out.print(ConfigFlags.help(OWN_OPTIONS, HELP_WIDTH));
    out.flush();
    return code;
  }

  /// Trains as a rank of another launcher, with the settings of the command line.
  private int asRank(
      TrainingProvider training, CommandSpec command, PrintStream out, PrintStream err) {
    var unused = ConfigFlags.config(command);
    for (ConfigOption<?> option : OptionProvider.all()) {
      String text = ConfigFlags.variables(command).get(option.variable());
      if (text != null) {
        System.setProperty(option.property(), text);
      }
    }
    return training.run(out, err, arguments);
  }

  /// Returns the command's exit code: 2 and 3 of a rank are kept.
  private static int codeOf(int rankCode) {
    return switch (rankCode) {
      case ExitCodes.DONE -> ExitCodes.DONE;
      case ExitCodes.WRONG_USAGE -> ExitCodes.WRONG_USAGE;
      case ExitCodes.MISSING -> ExitCodes.MISSING;
      default -> ExitCodes.FAILED;
    };
  }
}
