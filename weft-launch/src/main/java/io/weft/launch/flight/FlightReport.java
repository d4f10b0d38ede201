// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The report on the logs of a failed job.
///
/// @param size ranks in the job
/// @param logs ranks whose logs are known
/// @param cause the first failure and its reason, on one line
/// @param findings findings, the most significant first
public record FlightReport(
    int size, List<Integer> logs, String cause, List<FlightFinding> findings) {

  private static final int MOST_FINDINGS = 9;

  /// Copies the lists.
  public FlightReport {
    logs = List.copyOf(logs);
    findings = List.copyOf(findings);
  }

  /// Analyses the logs. Returns empty if there is no log, or if nothing failed and no operation was
  /// in flight.
  public static Optional<FlightReport> of(JobLogs evidence) {
    return evidence.logs().isEmpty() ? Optional.empty() : new FailureAnalysis(evidence).report();
  }

  /// Returns the report in at most 11 lines.
  public List<String> lines() {
    var lines = new ArrayList<String>();
    lines.add("cause: " + cause);
    findings.stream().limit(MOST_FINDINGS).forEach(finding -> lines.add("  " + finding.words()));
    if (findings.size() > MOST_FINDINGS) {
      lines.add("  and " + (findings.size() - MOST_FINDINGS) + " findings more");
    }
    return lines;
  }
}
