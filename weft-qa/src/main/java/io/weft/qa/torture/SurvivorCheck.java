// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The check that a survivor ended correctly. Its own error must name a culprit. If it had not
/// joined the job yet, the launcher must have ended it after naming a culprit.
record SurvivorCheck(Set<Integer> guilty) {

  /// The last line of the launcher.
  static final Pattern JOB_FAILED = Pattern.compile("the job failed: rank \\d+ on ");

  private static final int BY_SIGNAL = 128;

  /// The exit codes of the signals 4, 6, 7, 8 and 11.
  private static final Set<Integer> CRASHED = Set.of(132, 134, 135, 136, 139);

  private static final Pattern LOST = Pattern.compile("\\brank (\\d{1,6}) on \\S+ is lost");
  private static final Pattern FAILURE = Pattern.compile("lost|given up|cannot join|left the job");

  /// Returns a description of the fault, empty for a correct end.
  String wrong(int exitCode, List<String> lines, List<String> launcher) {
    if (exitCode == 0) {
      return "ended with 0";
    }
    if (CRASHED.contains(exitCode)) {
      return "crashed with exit code " + exitCode;
    }
    Optional<Integer> first =
        lines.stream()
            .map(LOST::matcher)
            .filter(Matcher::find)
            .map(found -> Integer.valueOf(found.group(1)))
            .findFirst();
    if (first.isPresent() && !guilty.contains(first.get())) {
      return "reports first that rank " + first.get() + " is lost, not one of " + guilty;
    }
    List<String> errors = lines.stream().filter(line -> FAILURE.matcher(line).find()).toList();
    if (errors.stream().anyMatch(this::names)) {
      return "";
    }
    if (!errors.isEmpty()) {
      return "names another rank than " + guilty + ": " + errors.getLast();
    }
    boolean ended = exitCode > BY_SIGNAL;
    if (ended && launcher.stream().anyMatch(this::names)) {
      return "";
    }
    String last = lines.isEmpty() ? "nothing" : lines.getLast();
    return "ended with " + exitCode + " and names no rank; its last line: " + last;
  }

  private boolean names(String line) {
    return guilty.stream().anyMatch(rank -> line.matches(".*\\brank " + rank + "\\b.*"));
  }
}
