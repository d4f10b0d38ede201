// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// How one harmed job ended.
///
/// @param harm what was done
/// @param seed repeats this repetition
/// @param victim to whom: `rank 2`, `0-3`, `0,1|2,3`
/// @param momentSeconds when, after the job could be harmed
/// @param survivorSeconds from the harm to the end of the last survivor
/// @param jobSeconds from the harm to the end of the launcher
/// @param load of the machine when it was harmed: how many wanted a processor in the last minute
/// @param flaws what was wrong; empty = all was as it must be
public record JobOutcome(
    Harm harm,
    long seed,
    String victim,
    double momentSeconds,
    double survivorSeconds,
    double jobSeconds,
    double load,
    List<Flaw> flaws) {

  private static final Pattern JSON =
      Pattern.compile(
          "\\{\"harm\":\"(\\w+)\",\"seed\":(\\d+),\"victim\":\"([^\"]*)\",\"momentSeconds\":([\\d.]+),"
              + "\"survivorSeconds\":([\\d.]+),\"jobSeconds\":([\\d.]+),\"load\":([\\d.]+),"
              + "\"flaws\":\\[(.*)]}");

  /// Copies the list.
  public JobOutcome {
    flaws = List.copyOf(flaws);
  }

  /// Whether all was as it must be.
  public boolean good() {
    return flaws.isEmpty();
  }

  /// Whether it lacks all of these flaws.
  boolean without(Flaw.FlawKind... kinds) {
    return flaws.stream().noneMatch(flaw -> Arrays.asList(kinds).contains(flaw.kind()));
  }

  /// One line.
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%-9s seed %-4d %-8s at %5.2f s  survivors ended after %5.2f s, the job after %5.2f s  load"
            + " %4.1f  %s",
        harm.word(),
        seed,
        victim,
        momentSeconds,
        survivorSeconds,
        jobSeconds,
        load,
        good()
            ? "ok"
            : flaws.stream().map(Flaw::words).collect(Collectors.joining("; ", "FAILED: ", "")));
  }

  String json() {
    return String.format(
        Locale.ROOT,
        "{\"harm\":\"%s\",\"seed\":%d,\"victim\":\"%s\",\"momentSeconds\":%.3f,"
            + "\"survivorSeconds\":%.3f,\"jobSeconds\":%.3f,\"load\":%.2f,\"flaws\":[%s]}",
        harm.word(),
        seed,
        victim,
        momentSeconds,
        survivorSeconds,
        jobSeconds,
        load,
        flaws.stream().map(Flaw::json).collect(Collectors.joining(",")));
  }

  /// What `json` wrote; empty where it is something else.
  static Optional<JobOutcome> parse(String line) {
    Matcher matcher = JSON.matcher(line.strip());
    if (!matcher.matches()) {
      return Optional.empty();
    }
    return Harm.of(matcher.group(1))
        .map(
            harm ->
                new JobOutcome(
                    harm,
                    Long.parseLong(matcher.group(2)),
                    matcher.group(3),
                    Double.parseDouble(matcher.group(4)),
                    Double.parseDouble(matcher.group(5)),
                    Double.parseDouble(matcher.group(6)),
                    Double.parseDouble(matcher.group(7)),
                    Flaw.parse(matcher.group(8))));
  }
}
