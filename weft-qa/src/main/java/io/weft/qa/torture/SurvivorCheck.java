// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Whether a survivor ended as it must: with an error of its own that names one of the guilty; or,
/// where it was not in the job yet, by the launcher, which named one.
record SurvivorCheck(Set<Integer> guilty) {

  /// What the launcher says last.
  static final Pattern JOB_FAILED = Pattern.compile("the job failed: rank \\d+ on ");

  private static final int BY_SIGNAL = 128;

  /// By signal 4, 6, 7, 8 or 11.
  private static final Set<Integer> CRASHED = Set.of(132, 134, 135, 136, 139);

  private static final Pattern LOST = Pattern.compile("\\brank (\\d{1,6}) on \\S+ is lost");
  private static final Pattern FAILURE = Pattern.compile("lost|given up|cannot join|left the job");

  /// What is wrong; empty = nothing.
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
      return "says first that rank " + first.get() + " is lost, not one of " + guilty;
    }
    List<String> errors = lines.stream().filter(line -> FAILURE.matcher(line).find()).toList();
    if (errors.stream().anyMatch(this::names)) {
      return "";
    }
    if (!errors.isEmpty()) {
      return "names somebody else than " + guilty + ": " + errors.getLast();
    }
    boolean ended = exitCode > BY_SIGNAL;
    if (ended && launcher.stream().anyMatch(this::names)) {
      return "";
    }
    String last = lines.isEmpty() ? "nothing" : lines.getLast();
    return "ended with " + exitCode + " and names nobody; it said last: " + last;
  }

  private boolean names(String line) {
    return guilty.stream().anyMatch(rank -> line.matches(".*\\brank " + rank + "\\b.*"));
  }
}
