// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.cluster.elastic.OnFailure;
import io.weft.launch.job.JobFailed;
import io.weft.launch.job.JobPlan;
import io.weft.launch.job.LaunchedJob;
import io.weft.launch.job.RankPlacement;
import io.weft.launch.process.Programs;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `weft run`: starts ranks of any command.
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Starts ranks of any command, here or on other hosts, and waits for them.",
      "",
      "Each rank finds its place in WEFT_RANK, WEFT_SIZE, WEFT_LOCAL_RANK, WEFT_LOCAL_SIZE,"
          + " WEFT_CROSS_RANK and WEFT_CROSS_SIZE, and the others through WEFT_STORE; Weft.init()"
          + " reads them. When a rank fails, the others are ended and the exit code is 1; with"
          + " --on-failure shrink they are waited for, and it is 0 if one of them ends well; with"
          + " --restart some are started again then.",
      "",
      "The standard input of each rank is empty (/dev/null); that of this command is not read.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft run -np 4 -- sh -c 'echo I am $WEFT_RANK of $WEFT_SIZE'",
      "  weft run -H node1:4,node2:4 -- java -cp app.jar Train --epochs 5",
      "  weft run -np 5 --on-failure shrink --restart 0-2 -- java -cp app.jar Serve"
    })
final class RunCommand implements Callable<Integer> {

  private static final int RESTARTS = 3;
  private static final Pattern RANGE = Pattern.compile("(\\d{1,4})(?:-(\\d{1,4}))?");

  @Spec private @Nullable CommandSpec spec;

  @Mixin private PlacementFlags placement = new PlacementFlags();

  @Option(
      names = "--restart",
      paramLabel = "RANKS",
      description =
          "with --on-failure shrink: ranks that are started again when they are lost, such as"
              + " 0-2,5; each joins the job as one more rank, as a server of a parameter server"
              + " does")
  private @Nullable String restart;

  @Option(
      names = "--restarts",
      paramLabel = "N",
      description = "how often each of them is started again (default: " + RESTARTS + ")")
  private @Nullable Integer restarts;

  @Parameters(
      arity = "1..*",
      paramLabel = "COMMAND",
      description = "program and arguments; '--' may stand before it")
  private List<String> command = new ArrayList<>();

  RunCommand() {}

  @Override
  public Integer call() throws JobFailed, InterruptedException {
    JobPlan plan = placement.plan(command, Map.of(), JobPlan.Output.PREFIXED).ofAnyProgram();
    checkProgram(plan);
    plan = plan.restarting(restarts(plan));
    PrintStream out = System.out;
    PrintStream err = System.err;
    try (LaunchedJob job = LaunchedJob.start(plan, out, err)) {
      return job.await() == 0 ? ExitCodes.DONE : ExitCodes.FAILED;
    }
  }

  private JobPlan.Restarts restarts(JobPlan plan) {
    String asked = restart;
    if (asked == null) {
      if (restarts != null) {
        throw wrong("--restarts needs --restart with the ranks that are started again");
      }
      return JobPlan.Restarts.NONE;
    }
    if (plan.config().onFailure() != OnFailure.SHRINK) {
      throw wrong(
          "--restart needs --on-failure shrink: else the job ends with the first lost rank");
    }
    int most = restarts == null ? RESTARTS : restarts;
    if (most < 1) {
      throw wrong("--restarts is " + most + "; it must be 1 or more");
    }
    return new JobPlan.Restarts(ranks(asked, plan.ranks().size()), most);
  }

  private Set<Integer> ranks(String list, int size) {
    Set<Integer> ranks = new TreeSet<>();
    for (String part : list.split(",", -1)) {
      Matcher range = RANGE.matcher(part.strip());
      int first = range.matches() ? Integer.parseInt(range.group(1)) : size;
      int last =
          range.matches() && range.group(2) != null ? Integer.parseInt(range.group(2)) : first;
      if (last < first || last >= size) {
        throw wrong(
            "--restart is '%s'; allowed: ranks from 0 to %d, such as 0-2,5"
                .formatted(list, size - 1));
      }
      for (int rank = first; rank <= last; rank++) {
        ranks.add(rank);
      }
    }
    return ranks;
  }

  private ParameterException wrong(String words) {
    return new ParameterException(
        Objects.requireNonNull(spec, "picocli sets the spec").commandLine(), words);
  }

  /// Checks that this host can run the program. Other hosts report missing programs themselves.
  private void checkProgram(JobPlan plan) {
    String program = command.getFirst();
    if (plan.ranks().stream().noneMatch(RankPlacement::isHere)
        || Programs.canRun(program, plan.path())) {
      return;
    }
    boolean named = program.contains("/");
    throw new ParameterException(
        Objects.requireNonNull(spec, "picocli sets the spec").commandLine(),
        named && Files.exists(Path.of(program))
            ? program + " is not an executable program"
            : "there is no program " + (named ? program : "'" + program + "' in PATH"));
  }
}
