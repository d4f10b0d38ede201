// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.IntStream;

/// The training of the workloads, found as the tool `weft-train`. The first argument `--list`
/// prints the workloads. With `--validate` or `--validate=own` the tool does not train: it checks
/// the other arguments and the data, and prints the number of ranks and the dispensable ones if the
/// arguments determine them.
record TrainingProvider(ToolProvider tool) {

  private static final String TOOL = "weft-train";
  private static final Pattern RANKS =
      Pattern.compile(
          "ranks=(?<ranks>[0-9]{1,9}) reports=(?<reports>[0-9]{1,9})"
              + "( dispensable=(?<first>[0-9]{1,9})-(?<last>[0-9]{1,9}))?"
              + "(?<task> task=[0-9]{1,9})?");

  /// Returns the training. Throws `MissingRequirement` if no workloads are on the class path.
  static TrainingProvider find() {
    return new TrainingProvider(
        ToolProvider.findFirst(TOOL)
            .orElseThrow(
                () ->
                    new MissingRequirement(
                        "no workloads on the class path (no tool '"
                            + TOOL
                            + "'); add the jar of weft-workloads")));
  }

  /// The result of a check of the arguments.
  ///
  /// @param code 0, or the exit code for refused arguments
  /// @param ranks the required number of ranks; empty = any number
  /// @param reports the rank whose output is shown to the user
  /// @param dispensable ranks without which the others continue, if `ranks` is present
  /// @param isRank true if this process is one of the ranks, so that none must be started
  record Check(
      int code, OptionalInt ranks, int reports, Set<Integer> dispensable, boolean isRank) {}

  /// Checks arguments and data; prints the fault on `err`.
  ///
  /// @param own true if this command starts a job, independent of the environment
  Check check(PrintStream err, List<String> arguments, boolean own) {
    var said = new ByteArrayOutputStream();
    var all = new ArrayList<>(List.of(own ? "--validate=own" : "--validate"));
    all.addAll(arguments);
    int code = run(new PrintStream(said, true, StandardCharsets.UTF_8), err, all);
    Matcher matcher = RANKS.matcher(said.toString(StandardCharsets.UTF_8));
    if (!matcher.find()) {
      return new Check(code, OptionalInt.empty(), 0, Set.of(), false);
    }
    Set<Integer> dispensable = new TreeSet<>();
    if (matcher.group("first") != null) {
      int last = Integer.parseInt(matcher.group("last"));
      IntStream.rangeClosed(Integer.parseInt(matcher.group("first")), last)
          .forEach(dispensable::add);
    }
    return new Check(
        code,
        OptionalInt.of(Integer.parseInt(matcher.group("ranks"))),
        Integer.parseInt(matcher.group("reports")),
        dispensable,
        matcher.group("task") != null);
  }

  /// Runs the tool and returns its exit code, which is one of the command's.
  int run(PrintStream out, PrintStream err, List<String> arguments) {
    return tool.run(out, err, arguments.toArray(String[]::new));
  }
}
