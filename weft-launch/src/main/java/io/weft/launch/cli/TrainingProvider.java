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

/// The training that the workloads provide, found as the tool `weft-train`. First argument `--list`
/// names the workloads, `--validate` or `--validate=own` checks the rest of the line and the data,
/// trains nothing, and prints how many ranks there must be, where the line says so, and which of
/// them may be lost.
record TrainingProvider(ToolProvider tool) {

  private static final String TOOL = "weft-train";
  private static final Pattern RANKS =
      Pattern.compile(
          "ranks=(?<ranks>[0-9]{1,9}) reports=(?<reports>[0-9]{1,9})"
              + "( dispensable=(?<first>[0-9]{1,9})-(?<last>[0-9]{1,9}))?"
              + "(?<task> task=[0-9]{1,9})?");

  /// Throws `MissingRequirement` where no workloads are on the class path.
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

  /// What a check of the arguments says.
  ///
  /// @param code 0, or the exit code with which they are refused
  /// @param ranks how many there must be; empty: any number
  /// @param reports the rank whose output is the user's
  /// @param dispensable ranks without which the others go on, where `ranks` is given
  /// @param isRank whether this process is one of them: none are to be started here
  record Check(
      int code, OptionalInt ranks, int reports, Set<Integer> dispensable, boolean isRank) {}

  /// Checks arguments and data; says on `err` what is wrong.
  ///
  /// @param own whether the job is this command's own, whatever the environment says
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

  /// Its exit code, one of the command's.
  int run(PrintStream out, PrintStream err, List<String> arguments) {
    return tool.run(out, err, arguments.toArray(String[]::new));
  }
}
