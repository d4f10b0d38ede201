// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.experiment;

import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport;
import io.weft.perf.report.RankReport.Sample;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The reports of one contestant over all rounds of an experiment.
///
/// @param name the contestant's name for messages
/// @param reports the reports, at least one
public record ContestantRounds(String name, List<RankReport> reports) {

  /// Copies the list.
  public ContestantRounds {
    reports = List.copyOf(reports);
  }

  /// Returns the name and version that the contestant has printed.
  public String peer() {
    return reports.getFirst().peer();
  }

  /// Returns the samples of a case, one of each round.
  public List<Sample> samples(String key) {
    return reports.stream().map(report -> report.sample(key)).toList();
  }

  /// Returns the times of all iterations of a case in ascending order.
  public List<Long> nanos(String key) {
    return samples(key).stream().flatMap(each -> each.nanos().stream()).sorted().toList();
  }

  /// Returns a figure of a case in each round.
  public List<Double> numbers(String key, String name) {
    return samples(key).stream().map(each -> each.number(name)).toList();
  }

  /// Returns the median over the rounds of a figure of a case.
  public double median(String key, String name) {
    return Figure.median(numbers(key, name));
  }

  /// Returns the rounded median over the rounds of a figure of a case; null if a round lacks it.
  public @Nullable Double medianIfKnown(String key, String name) {
    boolean known = samples(key).stream().allMatch(each -> each.numbers().containsKey(name));
    return known ? Figure.rounded(median(key, name)) : null;
  }

  /// Returns whether all results of a case were right, null if the contestant compares nothing.
  public @Nullable Boolean checked(String key) {
    return allRight(samples(key));
  }

  /// Returns whether all results of all samples were right, null if one was not compared.
  public static @Nullable Boolean allRight(List<Sample> samples) {
    return samples.stream().anyMatch(each -> each.checked() == null)
        ? null
        : samples.stream().allMatch(each -> Boolean.TRUE.equals(each.checked()));
  }
}
