// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import io.weft.qa.torture.Flaw.FlawKind;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// The table of repetitions with a line for each kind of harm.
record ResultTable(List<JobOutcome> outcomes) {

  private static final String HEAD =
      "harm       times  ended in time  named right   p50 s   p99 s   max s  orphans  files  load"
          + "  failed";

  ResultTable {
    outcomes = List.copyOf(outcomes);
  }

  @Override
  public String toString() {
    return outcomes.stream().collect(Collectors.groupingBy(JobOutcome::harm)).entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(entry -> line(entry.getKey(), entry.getValue()))
        .collect(Collectors.joining("\n", HEAD + "\n", "\n"));
  }

  private static String line(Harm harm, List<JobOutcome> all) {
    Function<JobOutcome, Double> seconds = JobOutcome::survivorSeconds;
    return String.format(
        Locale.ROOT,
        "%-9s %6d %14d %12d %7.2f %7.2f %7.2f %8d %6d %5.1f %7d",
        harm.word(),
        all.size(),
        count(all, outcome -> outcome.without(FlawKind.START, FlawKind.HANG, FlawKind.LATE)),
        count(all, outcome -> outcome.without(FlawKind.START, FlawKind.HANG, FlawKind.CAUSE)),
        part(all, 0.5, seconds),
        part(all, 0.99, seconds),
        part(all, 1, seconds),
        count(all, outcome -> !outcome.without(FlawKind.ORPHAN)),
        count(all, outcome -> !outcome.without(FlawKind.FILE)),
        part(all, 0.5, JobOutcome::load),
        count(all, outcome -> !outcome.good()));
  }

  private static long count(List<JobOutcome> all, Predicate<JobOutcome> wanted) {
    return all.stream().filter(wanted).count();
  }

  /// Returns the quantile `part` of the values.
  private static double part(
      List<JobOutcome> all, double part, Function<JobOutcome, Double> value) {
    List<Double> sorted = all.stream().map(value).sorted(Comparator.naturalOrder()).toList();
    return sorted.get(Math.max(0, (int) Math.ceil(part * sorted.size()) - 1));
  }
}
