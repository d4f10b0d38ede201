// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The end of one harmed job.
///
/// @param harm the harm
/// @param seed the seed, which reproduces the repetition
/// @param victim the harmed ranks: `rank 2`, `0-3`, `0,1|2,3`
/// @param momentSeconds time from the job's readiness to the harm
/// @param survivorSeconds time from the harm to the end of the last survivor
/// @param jobSeconds time from the harm to the end of the launcher
/// @param load load of the machine at the harm: runnable threads over the last minute
/// @param flaws the flaws, empty for a correct end
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

  /// Returns whether the job ended correctly.
  public boolean good() {
    return flaws.isEmpty();
  }

  /// Returns whether it has no flaw of these kinds.
  boolean without(Flaw.FlawKind... kinds) {
    return flaws.stream().noneMatch(flaw -> Arrays.asList(kinds).contains(flaw.kind()));
  }

  /// Returns the outcome in one line.
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

  /// Parses a line that `json` has written. Returns empty for any other line.
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
